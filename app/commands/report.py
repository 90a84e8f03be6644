"""``trainrx report``: one file that says all about a run, for someone else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import DEFAULT_RUNS, RunsDir


def report(
    run: Annotated[
        str, typer.Argument(help="a run's folder or id, the beginning of its id, or `last`")
    ] = "last",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="file to write, .html or .md; <run id>.html if left out"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace a file that is no report")] = False,
    runs: RunsDir = DEFAULT_RUNS,
) -> None:
    """Write a run's diagnosis and advice as one file, to mail or attach: HTML that needs no network, or Markdown."""
    from ...profiler.store import find_run
    from ..report.contents import contents
    from ..report.file import target
    from ..stored import open_with_trials
    from ..views.format import size

    folder = find_run(run, runs)
    file = target(output or Path(f"{folder.path.resolve().name}.html"), force=force)
    written = file.write(contents(open_with_trials(folder)))
    typer.echo(f"{file.path} ({size(written)})")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)
