"""``trainrx ui``: the dashboard, on 127.0.0.1."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, RunsDir


def ui(
    run: Annotated[
        str | None, typer.Argument(help="open this run: its id, the beginning of it, or `last`")
    ] = None,
    runs: RunsDir = DEFAULT_RUNS,
    port: Annotated[
        int | None, typer.Option(help="port on 127.0.0.1; 8501 or the next free one if left out")
    ] = None,
    browser: Annotated[bool, typer.Option(help="open a browser window")] = True,
) -> None:
    """Open the dashboard on 127.0.0.1."""
    from ...profiler.store import find_run
    from ..serve import serve

    page, query, folder = "", None, runs
    if run is not None:
        found = find_run(run, runs).path.resolve()
        page, query, folder = "diagnosis", {"run": found.name}, found.parent
    raise SystemExit(
        serve(
            folder,
            port=port,
            open_browser=browser,
            page=page,
            query=query,
            tell=lambda url: typer.echo(f"Dashboard on {url} (Ctrl-C ends it)"),
        )
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ui)
