"""``trainrx attach``: estimate the stages of a training process that is already going on."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir


def attach(
    pid: Annotated[int, typer.Argument(min=1, help="id of the training process, or of its launcher")],
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="how long to sample")] = 10.0,
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
) -> None:
    """Estimate what a training process already going on waits for, from sampled stacks of it and its workers.

    Nothing is loaded into the process. Shares come with a 95 % interval; step times cannot be known this way.
    """
    import sys

    from ...profiler.attach import attach as look
    from ..terminal.report import print_report

    sys.stderr.write(f"trainrx: sampling process {pid} for {seconds:g} s\n")
    run = look(pid, seconds=seconds, runs_dir=runs)
    if as_json:
        sys.stdout.write(run.report().to_json() + "\n")
    else:
        print_report(run.report(), run.path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(attach)
