"""``trainrx samples``: the runs that come with trainrx, one per family of bottlenecks."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import AsJson


def samples(
    name: Annotated[
        str | None,
        typer.Argument(help="the run to show; all are listed if it is left out", show_default=False),
    ] = None,
    ui: Annotated[bool, typer.Option("--ui", help="open them in the dashboard, on 127.0.0.1")] = False,
    browser: Annotated[bool, typer.Option(help="with --ui: open a browser window")] = True,
    port: Annotated[
        int | None, typer.Option(help="with --ui: port; 8501 or the next free one if left out")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at runs that come with trainrx: real recordings, one per family of bottlenecks."""
    from ..bundled import sample_run

    run = None if name is None else sample_run(name)
    if ui:
        raise SystemExit(_serve(None if run is None else run.path.name, port, browser=browser))
    if run is None:
        _list(as_json=as_json)
        return
    import sys

    from ..terminal.report import print_report

    report = run.report()
    if as_json:
        sys.stdout.write(report.to_json() + "\n")
    else:
        print_report(report, run.path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(samples)


def _list(*, as_json: bool) -> None:
    from ..bundled import sample_runs
    from ..views.run_list import load_row

    rows = [(load_row(run), run.path) for run in sample_runs()]
    if as_json:
        import json

        listed = [
            {"name": row.id, "family": row.worst, "verdict": row.verdict, "folder": str(path)}
            for row, path in rows
        ]
        typer.echo(json.dumps(listed, indent=1, ensure_ascii=False))
    else:
        from ..terminal.samples import print_samples

        print_samples([row for row, _ in rows])


def _serve(run: str | None, port: int | None, *, browser: bool) -> int:
    from ..bundled import SAMPLES
    from ..serve import serve

    return serve(
        SAMPLES,
        port=port,
        open_browser=browser,
        page="" if run is None else "diagnosis",
        query=None if run is None else {"run": run},
        tell=lambda url: typer.echo(f"Dashboard on {url} (Ctrl-C ends it)"),
    )
