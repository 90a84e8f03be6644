"""``trainrx import``: read existing traces into a run, and say what the device was waiting for."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir

if TYPE_CHECKING:
    from ...profiler.ingest.source import Progress
    from ...profiler.report import Report
    from ...profiler.trace_import import CountProgress


def import_(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="trace files, or folders of them: all ranks of one run; also remote, as s3://BUCKET/FOLDER",
            metavar="PATH...",
        ),
    ],
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
    rank_pattern: Annotated[
        str | None, typer.Option(help="regular expression whose one group is the rank in a path")
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(help="where files are read: dask://HOST:PORT, whose workers see the same paths"),
    ] = None,
    columns: Annotated[bool, typer.Option(help="keep the parsed columns in the run folder")] = True,
) -> None:
    """Read existing traces of a run, of any number of ranks, and say what the device was waiting for.

    Kineto and Chrome JSON, Nsight Systems SQLite, CUDA memory snapshots, execution traces, metric CSVs.
    """
    from ...profiler.errors import NotEnoughEvidence
    from ..importing import import_and_prescribe

    with _progress() as (by_bytes, by_files):
        report, folder = import_and_prescribe(
            paths,
            runs,
            rank_pattern=rank_pattern,
            executor=executor,
            keep_columns=columns,
            byte_progress=by_bytes,
            file_progress=by_files,
        )
    _print(report, folder, as_json)
    if report.cannot_tell:
        raise typer.Exit(NotEnoughEvidence.exit_code)


@contextmanager
def _progress() -> Generator[tuple[Progress, CountProgress], None, None]:
    """Bars on stderr, shown only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None, lambda done, total: None
        return
    from rich.progress import Progress as Bars

    from ..terminal.console import console

    with Bars(console=console(stderr=True), transient=True) as bars:
        reading = bars.add_task("reading", total=None)
        files = bars.add_task("files", total=None, visible=False)

        def by_bytes(done: int, total: int) -> None:
            bars.update(reading, completed=done, total=total)

        def by_files(done: int, total: int) -> None:
            bars.update(files, completed=done, total=total, visible=total > 1)

        yield by_bytes, by_files


def _print(report: Report, folder: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(report.to_json())
        return
    from ..terminal.report import print_report

    print_report(report, folder)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_)
