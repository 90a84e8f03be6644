"""Prints a comparison by quality against cost: the sentence, a table of methods, the rules of a fair comparison."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...advisor.compare.curve_fairness import Check, Standing
from ...advisor.compare.quality_cost import QualityComparison
from ..views.diagnosis import Tone
from ..views.quality import QualityView, quality_view
from ..views.quality_words import check_words
from .console import console

_STYLES = {
    Tone.HEALTHY: "bold green",
    Tone.PROBLEM: "bold red",
    Tone.CONCERN: "bold yellow",
    Tone.UNKNOWN: "bold",
}
_MARKS = {Standing.BROKEN: "·", Standing.ASKED: "?", Standing.KEPT: "✓"}


def print_quality(comparison: QualityComparison) -> None:
    """Print the comparison on stdout."""
    console().print(Group(*_parts(quality_view(comparison), comparison)))


def _parts(view: QualityView, comparison: QualityComparison) -> Iterator[RenderableType]:
    yield Text(view.headline.sentence, style=_STYLES[view.headline.tone])
    yield Text()
    yield _table(view)
    yield Text(f"\nCost in {view.cost_title}; intervals are 95 % over seeds.", style="dim")
    for note in dict.fromkeys(_notes(comparison)):
        yield Text(note, style="dim")
    yield Text("\nRules of a fair comparison", style="bold")
    for check in view.checks:
        yield Text(
            f"{'✗' if check.forbids else _MARKS[check.standing]} {check_words(check)}{_how_to_answer(check)}"
        )


def _table(view: QualityView) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in view.rows[0]:
        table.add_column(Text(heading), overflow="fold")
    for row in view.rows:
        table.add_row(*(Text(cell) for cell in row.values()))
    return table


def _notes(comparison: QualityComparison) -> Iterator[str]:
    for result in comparison.results:
        for source in result.method.sources:
            yield from (f"{result.method.name}: {note}." for note in source.table.notes)


def _how_to_answer(check: Check) -> str:
    return f"  (--answer {check.rule}=yes|no)" if check.standing is Standing.ASKED else ""
