"""Prints comparisons: outcome first, then stages, settings and what is unfair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...advisor.compare.runs import Comparison, Outcome
from ..views.compare import headline
from ..views.format import duration, setting, sign
from .console import console

MAX_SETTINGS = 20
_STYLES = {
    Outcome.FASTER: "bold green",
    Outcome.SLOWER: "bold red",
    Outcome.NO_EVIDENCE: "bold",
    Outcome.UNAVAILABLE: "bold",
}


def print_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Print each comparison on stdout."""
    shown = console()
    for comparison in comparisons:
        shown.print(Group(*_parts(comparison)))


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    yield Text(f"\n{comparison.before.run.id}  →  {comparison.after.run.id}", style="dim")
    yield Text(headline(comparison), style=_STYLES[comparison.outcome])
    yield Text()
    yield _stage_table(comparison)
    if comparison.settings:
        yield Text("\nWhat differs in the setup", style="bold")
        yield _setting_table(comparison)
    yield Text("\nRules of a fair comparison that these runs break", style="bold")
    for breach in comparison.breaches:
        yield Text(f"{'✗' if breach.serious else '·'} {breach.rule}: {breach.detail}")


def _stage_table(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("stage")
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right")
    for stage in comparison.stages:
        table.add_row(
            stage.stage.label,
            duration(stage.before_s),
            duration(stage.after_s),
            f"{sign(stage.change_s)}{duration(abs(stage.change_s))}",
        )
    return table


def _setting_table(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "before", "after"):
        table.add_column(heading, overflow="fold")
    for change in comparison.settings[:MAX_SETTINGS]:
        table.add_row(change.name, _shown(change.before), _shown(change.after))
    return table


def _shown(value: object) -> str:
    return "not told" if value is None else setting(value)
