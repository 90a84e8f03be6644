"""``trainrx show``: the verdict and the numbers of a stored run."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir


def show(
    run: Annotated[
        str, typer.Argument(help="a run's folder or id, the beginning of its id, or `last`")
    ] = "last",
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
) -> None:
    """Show a run: verdict, stages, findings."""
    import sys

    from ...profiler.store import find_run
    from ..stored import open_with_trials
    from ..terminal.report import print_report
    from ..views.visible import visible

    folder = find_run(run, runs)
    stored = open_with_trials(folder)
    for note in stored.notes:
        sys.stderr.write(f"trainrx: {visible(note)}\n")
    if as_json:
        sys.stdout.write(stored.report.to_json() + "\n")
    else:
        print_report(stored.report, folder.path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)
