"""``trainrx ui``: the dashboard, on 127.0.0.1 unless told otherwise."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, RunsDir


def ui(
    run: Annotated[
        str | None, typer.Argument(help="open this run: its id, the beginning of it, or `last`")
    ] = None,
    runs: RunsDir = DEFAULT_RUNS,
    port: Annotated[int | None, typer.Option(help="port; 8501 or the next free one if left out")] = None,
    address: Annotated[
        str,
        typer.Option(help="address to listen on; any but loopback makes the runs visible to other machines"),
    ] = "127.0.0.1",
    allow_run: Annotated[
        bool,
        typer.Option(
            "--allow-run", help="start trials from the browser too, for whoever has the link with the token"
        ),
    ] = False,
    browser: Annotated[bool, typer.Option(help="open a browser window")] = True,
) -> None:
    """Open the dashboard on 127.0.0.1.

    Trials can be started from the browser on this machine; from others only with --allow-run and its link.
    """
    from ...profiler.store import find_run
    from ..permission import new_token
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
            bind=address,
            token=new_token() if allow_run else None,
            tell=lambda url: typer.echo(f"Dashboard on {url} (Ctrl-C ends it)"),
        )
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ui)
