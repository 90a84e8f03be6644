"""``trainrx check``: what can be measured on this machine, and why not; and what the machine can do at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir

if TYPE_CHECKING:
    from pathlib import Path

    from ...profiler.calibration import Ceilings


def check(
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="measure and store this machine's peak rates")
    ] = False,
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
) -> None:
    """Say what can be measured on this machine, and why not.

    With --calibrate it also measures matrix products, copies, disk and all-reduce, in a few seconds.
    """
    import json
    import sys

    from ...profiler.capabilities import capabilities
    from ..terminal.check import print_capabilities, print_ceilings

    found = capabilities()
    ceilings = _calibrated(runs) if calibrate else None
    if as_json:
        listed = [{"name": item.name, "available": item.available, "detail": item.detail} for item in found]
        document = (
            listed
            if ceilings is None
            else {"capabilities": listed, "calibration": ceilings.model_dump(mode="json")}
        )
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
        return
    print_capabilities(found)
    if ceilings is not None:
        print_ceilings(ceilings)


def _calibrated(runs: Path) -> Ceilings:
    from ...profiler.calibration import calibrate

    return calibrate(runs, on_progress=lambda what: typer.echo(f"trainrx: measuring {what}", err=True))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)
