"""``trainrx check``: what can be measured on this machine, and why not."""

from __future__ import annotations

import typer

from .options import AsJson


def check(as_json: AsJson = False) -> None:
    """Say what can be measured on this machine, and why not."""
    import json
    import sys

    from ...profiler.capabilities import capabilities
    from ..terminal.check import print_capabilities

    found = capabilities()
    if as_json:
        document = [{"name": item.name, "available": item.available, "detail": item.detail} for item in found]
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        print_capabilities(found)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)
