"""Imports traces for the terminal: reads them, replays them, prescribes, keeps the whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..advisor.prescribe import prescribe
from ..advisor.replayed import with_what_ifs
from ..profiler.ingest.source import Progress, no_progress
from ..profiler.report import Report
from ..profiler.store import RunFolder
from ..profiler.trace_import import CountProgress, import_traces


def import_and_prescribe(
    paths: Sequence[Path],
    runs_dir: Path,
    *,
    rank_pattern: str | None = None,
    keep_columns: bool = True,
    byte_progress: Progress = no_progress,
    file_progress: CountProgress = lambda done, total: None,
) -> tuple[Report, Path]:
    """Import traces into a new run folder; returns the stored report and the folder.

    Raises:
        InputError: a named file, or every file of the folders, cannot be read.
        UsageError: ``rank_pattern`` is no pattern or finds no rank.
    """
    report, folder = import_traces(
        paths,
        runs_dir,
        command=["trainrx", "import", *map(str, paths)],
        rank_pattern=rank_pattern,
        keep_columns=keep_columns,
        byte_progress=byte_progress,
        file_progress=file_progress,
    )
    advised = prescribe(with_what_ifs(report, folder))
    RunFolder(folder).write_report(advised)
    return advised, folder
