"""The command line: one file per command under ``commands/``, errors turned into exit codes here.

Command modules import nothing heavy at their top, so that ``trainrx --help`` answers at once.
"""

from __future__ import annotations

import gc
import sys

import typer

from ..profiler.errors import TrainrxError
from .commands import (
    attach,
    catalog,
    check,
    compare,
    export,
    import_,
    profile,
    report,
    run,
    samples,
    show,
    try_,
    ui,
)
from .views.visible import visible

app = typer.Typer(
    name="trainrx",
    help="Finds what a PyTorch training run is waiting for, says what to change, and proves it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    profile,
    attach,
    import_,
    show,
    report,
    try_,
    run,
    compare,
    catalog,
    samples,
    export,
    check,
    ui,
):
    command.register(app)


OBJECTS_PER_COLLECTION = 100_000
"""Imports make some hundred thousand objects that stay; Python's own 700 would look through them again and again."""


def main() -> None:
    """Run the command line; a `TrainrxError` becomes one sentence on stderr and its exit code."""
    gc.set_threshold(OBJECTS_PER_COLLECTION, *gc.get_threshold()[1:])
    try:
        app()
    except TrainrxError as error:
        sys.stderr.write(f"trainrx: {visible(str(error))}\n")
        sys.exit(error.exit_code)
    finally:
        gc.freeze()  # else the interpreter looks through them all once more before it ends
