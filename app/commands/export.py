"""``trainrx export``: the trimmed trace of chosen steps, for Perfetto."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from .options import DEFAULT_RUNS, RunsDir


def export(
    source: Annotated[
        str,
        typer.Argument(
            help="a trace file; or a run's folder or id, the beginning of its id, or `last`",
            metavar="RUN_OR_TRACE",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="file to write, .json or .json.gz")],
    steps: Annotated[
        str | None, typer.Option(help="steps to keep, FIRST:LAST, both included; all if left out")
    ] = None,
    rank: Annotated[int | None, typer.Option(help="rank of a run; its first if left out")] = None,
    runs: RunsDir = DEFAULT_RUNS,
) -> None:
    """Write the trace of chosen steps as a small file that ui.perfetto.dev and chrome://tracing open."""
    from ...profiler.trace_export import export_steps

    spans = export_steps(_found(source, runs), output, steps=steps, rank=rank)
    typer.echo(f"{spans} spans in {output}: open it at https://ui.perfetto.dev", err=True)


def _found(source: str, runs: Path) -> Path:
    from ...profiler.errors import InputError
    from ...profiler.store import find_run

    if os.path.isfile(source):  # noqa: PTH113  # any text is a question, none an error
        return Path(source)
    try:
        return find_run(source, runs).path
    except InputError as error:
        raise InputError(f"{source} is not a trace file, and {error}") from None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(export)
