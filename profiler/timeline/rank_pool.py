"""Summarises many trace files through an executor, a bounded number at a time, so that memory stays bounded
too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, UsageError
from ..ingest.column_store import write_columns
from ..ingest.columns import Trace
from ..ingest.recordings import ExecutionGraph, MemoryRecording, MetricSeries, Recording, named_by
from ..ingest.remote import fetched
from ..ingest.sniff import open_trace
from ..ingest.source import Progress, no_progress
from ..trace_files import TraceFile
from .rank_summary import RankSummary, summarise

Outcome = RankSummary | MemoryRecording | MetricSeries | ExecutionGraph | InputError
SMALL_BYTES = 24 << 20
"""Up to this many bytes of files, starting processes costs more than it saves."""

FEW_FILES = 16


@dataclass(frozen=True)
class FileTask:
    """One file to read, and the folder its columns go to (None: they are not kept)."""

    file: TraceFile
    columns: Path | None = None


def run_task(task: FileTask, progress: Progress = no_progress) -> Outcome:
    """Read one file, keep its columns, summarise it; an unreadable file is an outcome, not an exception."""
    try:
        return _summary(_recording(task.file, progress), task.columns)
    except InputError as error:
        return error


def _recording(file: TraceFile, progress: Progress) -> Recording:
    if file.url is None:
        return open_trace(file.path, progress=progress)
    with fetched(file.url, progress=progress) as local:
        return named_by(open_trace(local), file.url)


def _summary(recording: Recording, columns: Path | None) -> Outcome:
    if isinstance(recording, MemoryRecording | MetricSeries | ExecutionGraph):
        return recording
    if columns is None:
        return summarise(recording)
    with ThreadPoolExecutor(max_workers=1) as beside:
        written = beside.submit(_keep, recording, columns)
        summary = summarise(recording)
        written.result()
    return summary


def _keep(trace: Trace, columns: Path) -> None:
    try:
        write_columns(trace, columns)
    except OSError as error:
        raise UsageError(
            f"cannot keep the columns of a trace in {columns.parent}: {error.strerror or error}: "
            "choose another place with --runs DIR"
        ) from None


def needs_pool(tasks: Sequence[FileTask]) -> bool:
    """Whether the files are many or large enough for several processes."""
    if len(tasks) < 2:
        return False
    sizes = sum(task.file.size_bytes for task in tasks)
    return len(tasks) > FEW_FILES or sizes > SMALL_BYTES


def process_pool(workers: int | None = None) -> Executor:
    """A pool of fresh processes, as many as there are cores that this one may run on unless told."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    from ..calibration.kept import usable_cores

    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers or usable_cores(), mp_context=context)


def run_all(
    tasks: Sequence[FileTask],
    executor: Executor,
    *,
    in_flight: int,
    done: Callable[[int], None] = lambda count: None,
) -> Iterator[tuple[FileTask, Outcome]]:
    """Outcomes as they come, with at most ``in_flight`` tasks handed over at a time; ``done`` gets their
    number.
    """
    pending: dict[Future[Outcome], FileTask] = {}
    waiting = iter(tasks)
    finished = 0
    while True:
        while len(pending) < in_flight and (task := next(waiting, None)) is not None:
            pending[executor.submit(run_task, task)] = task
        if not pending:
            return
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            finished += 1
            done(finished)
            yield pending.pop(future), future.result()
