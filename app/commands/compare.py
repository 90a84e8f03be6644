"""``trainrx compare``: run against run(s)."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir


def compare(
    runs_to_compare: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...", help="runs by folder or id; the first is what others are held against"
        ),
    ],
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
) -> None:
    """Hold runs against the first of them: step time, stages, setup, and what makes it unfair."""
    import sys

    from ...profiler.errors import UsageError
    from ..comparing import compare_stored, document
    from ..terminal.compare import print_comparisons

    if len(runs_to_compare) < 2:
        raise UsageError("compare needs two runs or more, as in `trainrx compare RUN RUN`")
    comparisons = compare_stored(runs_to_compare, runs)
    if as_json:
        sys.stdout.write(document(comparisons) + "\n")
    else:
        print_comparisons(comparisons)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)
