"""``trainrx ui``: the dashboard, on 127.0.0.1."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, RunsDir


def ui(
    runs: RunsDir = DEFAULT_RUNS,
    port: Annotated[int, typer.Option(help="port on 127.0.0.1")] = 8501,
    browser: Annotated[bool, typer.Option(help="open a browser window")] = True,
) -> None:
    """Open the dashboard on 127.0.0.1."""
    from ..serve import serve

    raise SystemExit(serve(runs, port=port, open_browser=browser))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ui)
