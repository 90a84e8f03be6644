"""``trainrx compare``: run against run(s)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir


def compare(
    runs_to_compare: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN RUN...",
            help="runs by folder or id; with --curves also metric files and folders of them, METHOD=FILE or "
            "METHOD:SEED=FILE where names do not tell; the first is the baseline",
        ),
    ] = None,
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="compare quality against cost, from metric files")
    ] = False,
    metric: Annotated[
        str | None, typer.Option(help="with --curves: the column that holds the quality")
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(help="with --curves: lower or higher, where the metric's name does not tell"),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="with --curves: steps, epochs, samples, tokens, seconds, flops, energy, or a column's name"
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(help="with --curves: the quality to reach; the best that all reach if left out"),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="with --curves: the method that the others are compared with")
    ] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE=yes|no", help="with --curves: answer what a fair comparison asks"),
    ] = None,
) -> None:
    """Compare runs with the first one: step time, stages, setup, and what makes it unfair.

    With --curves: methods against a baseline by the cost to reach a quality, over seeds.
    """
    import sys

    from ...profiler.errors import UsageError
    from ..comparing import compare_stored, document
    from ..terminal.compare import print_comparisons

    words = runs_to_compare or []
    told = {"metric": metric, "better": better, "cost": cost, "target": target, "baseline": baseline}
    if curves:
        _compare_curves(words, runs, told, answer or [], as_json=as_json)
        return
    if answer or any(value is not None for value in told.values()):
        raise UsageError("--metric, --better, --cost, --target, --baseline and --answer need --curves")
    if len(words) < 2:
        raise UsageError("compare needs two runs or more, as in `trainrx compare RUN RUN`")
    comparisons = compare_stored(words, runs)
    if as_json:
        sys.stdout.write(document(comparisons) + "\n")
    else:
        print_comparisons(comparisons)


def _compare_curves(
    words: list[str], runs: Path, told: dict[str, Any], answers: list[str], *, as_json: bool
) -> None:
    import sys

    from ...advisor.compare.quality_cost import compare_curves
    from ..comparing_curves import ask, document, parse_answers
    from ..curve_files import named_sources
    from ..terminal.quality import print_quality

    sources = named_sources(words, runs)
    comparison = compare_curves(sources, ask(sources, **told, answers=parse_answers(answers)))
    if as_json:
        sys.stdout.write(document(comparison) + "\n")
    else:
        print_quality(comparison)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)
