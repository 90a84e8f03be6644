"""``trainrx run``: run a script with changes put on from outside, without recording."""

from __future__ import annotations

from typing import Annotated

import typer

from .script_command import ScriptCommand


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT [ARGS]... | -m MODULE [ARGS]... | -- COMMAND...", show_default=False),
    ],
    knob: Annotated[
        list[str] | None, typer.Option(metavar="KNOB=VALUE", help="a change; may be given more than once")
    ] = None,
) -> None:
    """Run an unedited script with changes; those that had no effect are listed at the end on stderr.

    Nothing is recorded. The exit code is the script's own.
    """
    from ..running import run_with_knobs

    raise SystemExit(run_with_knobs(command, knob or []))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=ScriptCommand, context_settings={"allow_interspersed_args": False})(run)
