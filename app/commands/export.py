"""``trainrx export``: the trimmed trace of chosen steps, for Perfetto."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    source: Annotated[
        Path, typer.Argument(help="a trace file, or the folder of an imported run", metavar="RUN_OR_TRACE")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="file to write, .json or .json.gz")],
    steps: Annotated[
        str | None, typer.Option(help="steps to keep, FIRST:LAST, both included; all if left out")
    ] = None,
    rank: Annotated[int | None, typer.Option(help="rank of a run; its first if left out")] = None,
) -> None:
    """Write the trace of chosen steps as a small file that ui.perfetto.dev and chrome://tracing open."""
    from ...profiler.trace_export import export_steps

    spans = export_steps(source, output, steps=steps, rank=rank)
    typer.echo(f"{spans} spans in {output}: open it at https://ui.perfetto.dev", err=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(export)
