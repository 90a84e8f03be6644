"""Imports existing traces into a run folder: finds files, reads them, names ranks, writes columns and the
report.

The run folder is the one that a recorded run has: ``run.json``, ``ranks/<n>/``, ``report.json``.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from .errors import InputError, UsageError
from .ingest.rank_names import compiled_pattern, name_ranks
from .ingest.source import Progress, no_progress
from .report import Report, RunInfo
from .store import Manifest, RunFolder
from .timeline.rank_pool import FileTask, Outcome, needs_pool, process_pool, run_all, run_task
from .timeline.rank_summary import RankSummary
from .trace_files import find_files
from .trace_report import Attachment, report_of, report_of_attachments, step_table
from .vocabulary import RunStatus

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_ENDINGS = re.compile(r"(\.pt)?\.trace|\.(json|gz|sqlite|pickle|csv|raw)(?=\.|$)")
CountProgress = Callable[[int, int], None]
"""Called with the number of files done and of all files."""


@dataclass
class Imported:
    """What came of the files: summaries of timelines by path, other recordings, refused files."""

    timelines: dict[Path, RankSummary] = field(default_factory=dict[Path, RankSummary])
    columns: dict[Path, Path] = field(default_factory=dict[Path, Path])
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    refused: list[InputError] = field(default_factory=list[InputError])


def import_traces(
    places: Sequence[str | Path],
    runs: Path,
    *,
    command: Sequence[str],
    rank_pattern: str | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    keep_columns: bool = True,
    byte_progress: Progress = no_progress,
    file_progress: CountProgress = lambda done, total: None,
) -> tuple[Report, Path]:
    """Import traces and return the report and the run folder that was made under ``runs``.

    Places are paths or remote addresses. Many or large files go through ``executor``, which runs ``workers``
    tasks at a time; a process pool unless given. Its workers must see the same files under the same paths, and
    ``runs`` too if columns are to be kept. Files of a folder that are no recordings are left out with a note; a
    file that was named itself must be readable.

    Raises:
        InputError: a named file, or every file of the folders, cannot be read.
        UsageError: ``rank_pattern`` is no pattern or finds no rank, an address needs what is not installed, or
            ``runs`` cannot be written.
    """
    files, lenient = find_files(places)
    pattern = None if rank_pattern is None else compiled_pattern(rank_pattern)
    with _scratch(runs) as columns:
        tasks = [
            FileTask(file, columns / str(place) if keep_columns else None) for place, file in enumerate(files)
        ]
        imported = _read(tasks, executor, workers, byte_progress, file_progress)
        _raise_if_unread(imported, lenient)
        named = _ranks(imported, pattern)
        with _writing(runs):
            folder = _new_folder(runs, Path(places[0]))
        report = _report(imported, named, _run_info(folder, command, imported))
        with _writing(runs):
            _write(folder, report, imported, named)
    return report, folder


@contextmanager
def _scratch(runs: Path) -> Generator[Path]:
    """A folder within ``runs`` that lasts as long as the context."""
    with _writing(runs):
        runs.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".import-", dir=runs)
    with scratch as folder:
        yield Path(folder).resolve()


@contextmanager
def _writing(runs: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write to {runs}: {error.strerror or error}: choose another place with --runs DIR"
        ) from None


def _read(
    tasks: Sequence[FileTask],
    executor: Executor | None,
    workers: int | None,
    byte_progress: Progress,
    file_progress: CountProgress,
) -> Imported:
    imported = Imported()
    if executor is None and not needs_pool(tasks):
        for place, task in enumerate(tasks):
            _take(imported, task, run_task(task, byte_progress))
            file_progress(place + 1, len(tasks))
        return imported
    pool = executor or process_pool()
    try:
        for task, outcome in run_all(
            tasks, pool, in_flight=_in_flight(pool, workers), done=lambda n: file_progress(n, len(tasks))
        ):
            _take(imported, task, outcome)
    except BrokenExecutor:
        raise InputError(
            "a reading process was ended, perhaps for want of memory: import fewer or smaller files at a time, "
            "or read them where there is more memory with --executor dask://HOST:PORT"
        ) from None
    finally:
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)
    return imported


def _in_flight(pool: Executor, workers: int | None) -> int:
    told = getattr(pool, "_max_workers", 8) if workers is None else workers
    return 2 * told if isinstance(told, int) else 16


def _take(imported: Imported, task: FileTask, outcome: Outcome) -> None:
    if isinstance(outcome, InputError):
        imported.refused.append(outcome)
    elif isinstance(outcome, RankSummary):
        imported.timelines[task.file.path] = outcome
        if task.columns is not None:
            imported.columns[task.file.path] = task.columns
    else:
        imported.attachments.append(outcome)


def _raise_if_unread(imported: Imported, lenient: bool) -> None:
    nothing = not imported.timelines and not imported.attachments
    if imported.refused and (nothing or not lenient):
        first = imported.refused[0]
        more = len(imported.refused) - 1
        raise InputError(f"{first}{f' (and {more} more files)' if more else ''}")


def _ranks(imported: Imported, pattern: re.Pattern[str] | None) -> dict[int, tuple[Path, str | None]]:
    files = [(path, imported.timelines[path].info.rank) for path in sorted(imported.timelines)]
    named = name_ranks(files, pattern)
    return {one.rank: (path, one.note) for one, (path, _) in zip(named, files, strict=True)}


def _new_folder(runs: Path, first: Path) -> Path:
    stem = _UNFIT.sub("-", _ENDINGS.sub("", first.resolve().name)).strip("-.")[:48] or "trace"
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    for suffix in ["", *(f"-{number}" for number in range(2, 1000))]:
        folder = runs / f"{stamp}-{stem}{suffix}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise InputError(f"{runs} holds a thousand runs of this name from this second: wait a second")


def _run_info(folder: Path, command: Sequence[str], imported: Imported) -> RunInfo:
    formats = sorted(
        {summary.info.format for summary in imported.timelines.values()}
        | {one.format for one in imported.attachments}
    )
    return RunInfo(
        id=folder.name,
        command=list(command),
        status=RunStatus.IMPORTED,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        source="+".join(formats),
    )


def _report(imported: Imported, named: dict[int, tuple[Path, str | None]], run: RunInfo) -> Report:
    notes = [f"left out: {error}" for error in imported.refused]
    notes += [f"{path.name}: {note}" for path, note in named.values() if note is not None]
    notes += _unkept(imported)
    if not named:
        return report_of_attachments(run, imported.attachments, notes)
    ranks = {rank: imported.timelines[path] for rank, (path, _) in named.items()}
    return report_of(run, ranks, imported.attachments, notes)


def _unkept(imported: Imported) -> list[str]:
    """What is said of columns that a worker wrote where this machine does not see them."""
    away = [path for path, columns in imported.columns.items() if not columns.is_dir()]
    where = "their workers wrote them on another machine's disk: give a folder that all see with --runs"
    return [f"the columns of {len(away)} files are not kept: {where}"] if away else []


def _write(
    folder: Path, report: Report, imported: Imported, named: dict[int, tuple[Path, str | None]]
) -> None:
    for rank, (path, _) in named.items():
        if path in imported.columns and imported.columns[path].is_dir():
            target = folder / "ranks" / str(rank)
            target.mkdir(parents=True)
            shutil.move(imported.columns[path], target / "trace")
    stored = RunFolder(folder)
    stored.write_manifest(
        Manifest(
            id=report.run.id,
            command=report.run.command,
            cwd=str(Path.cwd()),
            started=report.run.started or "",
            status=report.run.status,
            versions={"trainrx": version("trainrx")},
            sources={
                str(rank): imported.timelines[path].info.source for rank, (path, _) in sorted(named.items())
            },
        )
    )
    stored.write_report(report)
    first = imported.timelines[named[min(named)][0]] if named else None
    steps = step_table(first) if first is not None else None
    if steps is not None:
        stored.write_steps(steps)
