"""Imports traces for the terminal: reads them, replays them, prescribes, keeps the whole."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from ..profiler.executors import executor_at
from ..profiler.ingest.remote import is_remote
from ..profiler.ingest.source import Progress, no_progress
from ..profiler.report import Report
from ..profiler.store import RunFolder
from ..profiler.trace_import import CountProgress, import_traces
from .advising import with_advice


def import_and_prescribe(
    places: Sequence[str | Path],
    runs_dir: Path,
    *,
    rank_pattern: str | None = None,
    executor: str | None = None,
    keep_columns: bool = True,
    byte_progress: Progress = no_progress,
    file_progress: CountProgress = lambda done, total: None,
) -> tuple[Report, Path]:
    """Import traces into a new run folder; returns the stored report and the folder.

    ``executor`` is the address of a cluster that reads them (see `executor_at`); this machine does unless given.

    Raises:
        InputError: a named file, or every file of the folders, cannot be read.
        UsageError: ``rank_pattern`` is no pattern or finds no rank, or ``executor`` does not answer.
    """
    with nullcontext((None, None)) if executor is None else executor_at(executor) as (pool, workers):
        report, folder = import_traces(
            places if executor is None else [_from_anywhere(place) for place in places],
            runs_dir,
            command=["trainrx", "import", *map(str, places)],
            rank_pattern=rank_pattern,
            executor=pool,
            workers=workers,
            keep_columns=keep_columns,
            byte_progress=byte_progress,
            file_progress=file_progress,
        )
    advised = with_advice(report, folder)
    RunFolder(folder).write_report(advised)
    return advised, folder


def _from_anywhere(place: str | Path) -> str:
    """A place as a worker finds it that was started in another folder."""
    return str(place) if is_remote(place) else str(Path(place).resolve())
