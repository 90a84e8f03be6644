"""``trainrx profile``: record a command, diagnose it, print the verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir
from .script_command import ScriptCommand


def profile(
    command: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT [ARGS]... | -m MODULE [ARGS]... | -- COMMAND...", show_default=False),
    ],
    runs: RunsDir = DEFAULT_RUNS,
    steps: Annotated[int, typer.Option(min=1, help="steps to time")] = 40,
    warmup: Annotated[int, typer.Option(min=0, help="steps left out of the timing before them")] = 5,
    seconds: Annotated[
        float, typer.Option(min=1, help="stop after this long, once a few steps are timed")
    ] = 120.0,
    patience: Annotated[
        float, typer.Option(min=1, help="give up if no step, or no further step, is seen for so many seconds")
    ] = 300.0,
    full: Annotated[bool, typer.Option("--full", help="let the script run to its end")] = False,
    light: Annotated[bool, typer.Option("--light", help="leave out the window of torch.profiler")] = False,
    native: Annotated[
        bool,
        typer.Option("--native", help="name the native code below each line by py-spy, which slows the run"),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Record an unedited script, diagnose it, print the verdict.

    The script's stdout stays its own: the verdict goes to stderr. With --json the report is the one thing on stdout,
    and what the script prints goes to stderr. Exit codes: 0 done, 1 the script failed, 2 usage, 4 no step was recorded.
    """
    from ...profiler.launch import Limits
    from ..recording import record_and_report

    limits = Limits(
        steps=None if full else steps,
        warmup=warmup,
        traced_steps=0 if light else 3,
        seconds=None if full else seconds,
        patience_s=None if full else patience,
    )
    raise SystemExit(
        record_and_report(command, runs_dir=runs, limits=limits, native_stacks=native, as_json=as_json)
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=ScriptCommand, context_settings={"allow_interspersed_args": False})(profile)
