"""Reads what the agent wrote in a rank's folder; a torn or missing file gives what is whole."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .agent import format as layout
from .errors import InputError
from .facts import MAX_WHOLE, printable, text, whole

MAX_FACTS_BYTES = 256 * 1024 * 1024
MAX_RECORDS_BYTES = 4 * 1024**3
MAX_FRAMES = 200
MAX_RANK = 10**9
#: Some 146 years of uptime.
MAX_TIME_NS = 2**62


@dataclass(frozen=True)
class Frame:
    """One Python frame of a sampled stack; the innermost of the script itself with the line's text."""

    file: str
    line: int
    function: str
    text: str | None = None


@dataclass(frozen=True, eq=False)
class WorkerRecording:
    """What one loader worker wrote, over all epochs.

    Attributes:
        loader: the loader's number.
        worker: the worker's number; None for a training process that loads by itself.
        batches: int64, shape (n, 10), columns as in `agent.format`.
        samples, stacks: as in `RankRecording`.
        ready_ns: when each of its processes was ready for its first batch.
        threads: intra-op threads of each of its processes.
        transforms: running totals per transform and process, later ones last.
        memory: readings of the memory of each of its processes, in order.
        notes: what its processes could not see, or see no more.
    """

    loader: int
    worker: int | None
    batches: NDArray[np.int64]
    samples: NDArray[np.int64]
    stacks: Mapping[int, tuple[Frame, ...]]
    ready_ns: tuple[int, ...]
    threads: tuple[int, ...]
    transforms: tuple[dict[str, Any], ...]
    memory: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RankRecording:
    """One rank's raw records.

    Attributes:
        rank: the rank in the job; 0 for a script that is no job.
        spans: int64, shape (n, 4): code, start_ns, end_ns, argument; codes in `agent.format`.
        samples: int64, shape (m, 2): time_ns, stack number.
        stacks: stack number to frames, innermost first.
        facts: the other facts by name, in the order they were written.
        fault: why the agent switched itself off, if it did.
        workers: what its loader workers wrote.
        device: int64, shape (d, 5), columns as in `agent.format`: stages by the clock of a GPU.
        gone: what the launcher noted when it saw the process end, and ``first`` where a parent saw it fail before the
            others; None where neither did.
        minutes: int64, shape (k, words), columns as in `agent.format`: of a long run, all after its beginning.
    """

    rank: int
    folder: Path
    spans: NDArray[np.int64]
    samples: NDArray[np.int64]
    stacks: Mapping[int, tuple[Frame, ...]]
    facts: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    fault: str | None = None
    workers: tuple[WorkerRecording, ...] = ()
    device: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, layout.DEVICE_WORDS), np.int64))
    gone: dict[str, Any] | None = None
    minutes: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, layout.MINUTE_WORDS), np.int64))

    def of_code(self, *codes: int) -> NDArray[np.int64]:
        """The spans with these codes, shape (k, 4), in order of their start."""
        chosen = self.spans[np.isin(self.spans[:, 0], codes)]
        return chosen[np.argsort(chosen[:, 1], kind="stable")]

    @property
    def process(self) -> dict[str, Any]:
        """What the process told of itself; empty if even that is missing."""
        found = self.facts.get("process", [])
        return found[0] if found else {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the process noted for the report's reader."""
        return _notes(self.facts)

    @property
    def fault_line(self) -> str | None:
        """The last line of the fault: the error itself."""
        return None if self.fault is None else printable(self.fault.splitlines()[-1])

    @property
    def end_reason(self) -> str | None:
        """How recording ended: ``stopped``, ``exit``; None if the process could not say."""
        found = self.facts.get("end", [])
        return text(found[-1], "reason") if found else None


def read_ranks(run_dir: Path) -> list[RankRecording]:
    """All ranks of a run, by rank. Processes that made no step are left out if another one did.

    Raises:
        InputError: a file is there and cannot be read.
    """
    try:
        return _read_ranks(run_dir)
    except OSError as error:
        raise InputError(
            f"{error.filename or run_dir} cannot be read: {error.strerror or error}: the run shows once it can"
        ) from None


def _read_ranks(run_dir: Path) -> list[RankRecording]:
    ranks_dir = run_dir / "ranks"
    folders = sorted(path for path in ranks_dir.iterdir() if path.is_dir()) if ranks_dir.is_dir() else []
    recordings = _with_first_failure(run_dir, [read_rank(folder) for folder in folders])
    training = [recording for recording in recordings if len(recording.of_code(layout.STEP))]
    return sorted(training or recordings, key=lambda recording: (recording.rank, recording.folder.name))


def _with_first_failure(run_dir: Path, recordings: list[RankRecording]) -> list[RankRecording]:
    """The rank that a parent saw fail first, told so in its ``gone``."""
    blame = next(_read_lines(run_dir / layout.FIRST_FAILURE_FILE), None)
    if blame is None or whole(blame, "pid") is None:
        return recordings
    number = whole(blame, "signal")
    gone = {"first": True} if number is None else {"first": True, "signal": number}
    return [
        replace(recording, gone={**(recording.gone or {}), **gone})
        if all(recording.process.get(name) == blame.get(name) for name in ("pid", "clock"))
        else recording
        for recording in recordings
    ]


def read_rank(folder: Path) -> RankRecording:
    """Read one rank's folder."""
    facts, stacks = _read_facts(folder)
    process = facts["process"][0] if facts.get("process") else {}
    workers_dir = folder / layout.WORKERS_FOLDER
    workers = sorted(workers_dir.iterdir()) if workers_dir.is_dir() else []
    return RankRecording(
        rank=_rank_number(process, folder),
        folder=folder,
        spans=_read_records(folder / layout.SPANS_FILE, layout.SPAN_WORDS),
        samples=_read_records(folder / layout.SAMPLES_FILE, layout.SAMPLE_WORDS),
        stacks=stacks,
        facts=facts,
        fault=_read_fault(folder / layout.FAULT_FILE),
        workers=tuple(worker for path in workers if (worker := _read_worker(path)) is not None),
        device=_read_device(folder / layout.DEVICE_FILE),
        gone=next(_read_lines(folder / layout.GONE_FILE), None),
        minutes=_read_records(folder / layout.MINUTES_FILE, layout.MINUTE_WORDS),
    )


def _read_worker(folder: Path) -> WorkerRecording | None:
    loader, _, worker = folder.name.partition("-")
    if not loader.isdigit() or not (worker.isdigit() or worker == layout.MAIN_PROCESS):
        return None
    facts, stacks = _read_facts(folder)
    return WorkerRecording(
        loader=int(loader),
        worker=int(worker) if worker.isdigit() else None,
        batches=_read_records(folder / layout.BATCHES_FILE, layout.BATCH_WORDS),
        samples=_read_records(folder / layout.SAMPLES_FILE, layout.SAMPLE_WORDS),
        stacks=stacks,
        ready_ns=tuple(
            ready for fact in facts.get("worker", []) if (ready := whole(fact, "ready_ns")) is not None
        ),
        threads=tuple(
            threads for fact in facts.get("worker", []) if (threads := whole(fact, "threads")) is not None
        ),
        transforms=tuple(facts.get("transform", [])),
        memory=tuple(facts.get("memory", [])),
        notes=_notes(facts),
    )


def _notes(facts: Mapping[str, list[dict[str, Any]]]) -> tuple[str, ...]:
    return tuple(note for fact in facts.get("note", []) if (note := text(fact, "text")) is not None)


def frames_of(frames: object) -> tuple[Frame, ...]:
    """The frames of a stack fact; those of another shape are left out."""
    entries = cast("list[object]", frames) if isinstance(frames, list) else []
    found = (_frame(entry) for entry in entries[:MAX_FRAMES])
    return tuple(frame for frame in found if frame is not None)


def _frame(entry: object) -> Frame | None:
    match entry:
        case [str(file), int(line), str(function), *rest] if 0 <= line <= MAX_WHOLE:
            words = printable(rest[0]) if rest and isinstance(rest[0], str) else None
            return Frame(printable(file), line, printable(function), words)
        case _:
            return None


def _rank_number(process: dict[str, Any], folder: Path) -> int:
    rank = whole(process, "rank")
    if rank is not None and 0 <= rank <= MAX_RANK:
        return rank
    leading = folder.name.partition(".")[0]
    return int(leading) if leading.isascii() and leading.isdigit() and len(leading) < 10 else 0


def record_files(path: Path) -> list[Path]:
    """A file of records and the numbered ones that follow it, in order, as far as they are there."""
    followers = (entry for entry in path.parent.glob(f"{path.name}.*") if entry.suffix[1:].isdigit())
    return [path, *sorted(followers, key=lambda entry: int(entry.suffix[1:]))[-layout.KEPT_SEGMENTS :]]


def _read_records(path: Path, words: int) -> NDArray[np.int64]:
    records = np.concatenate([_read_file(file, words) for file in record_files(path)])
    return records[_plausible(records)]


def _read_device(path: Path) -> NDArray[np.int64]:
    """The device's clock may count from anywhere, yet not from far."""
    records = _read_records(path, layout.DEVICE_WORDS)
    host, device = records[:, 1:3], records[:, 3:5]
    true = ((host >= 0) & (host < MAX_TIME_NS) & (np.abs(device) < MAX_TIME_NS)).all(axis=1)
    return records[true & (host[:, 0] <= host[:, 1]) & (device[:, 0] <= device[:, 1])]


def _read_file(path: Path, words: int) -> NDArray[np.int64]:
    try:
        size = min(path.stat().st_size, MAX_RECORDS_BYTES) // (8 * words)
        return np.fromfile(path, dtype="<i8", count=size * words).reshape(-1, words)
    except FileNotFoundError:  # never written, or rolled away this moment
        return np.empty((0, words), dtype=np.int64)


def _plausible(records: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which records can be true: times are not negative and far from overflow, and no span ends before it starts."""
    times = records[:, 1:3] if records.shape[1] == layout.SPAN_WORDS else records[:, :1]
    return ((times >= 0) & (times < MAX_TIME_NS)).all(axis=1) & (times[:, 0] <= times[:, -1])


def _read_facts(folder: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[int, tuple[Frame, ...]]]:
    """The facts of a folder by name, and its stacks apart."""
    facts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    stacks: dict[int, tuple[Frame, ...]] = {}
    for fact in _read_lines(folder / layout.FACTS_FILE):
        name, number = str(fact.get("fact")), whole(fact, "number")
        if name == "stack":
            if number is not None:
                stacks[number] = frames_of(fact.get("frames"))
        else:
            facts[name].append(fact)
    return dict(facts), stacks


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file.read(MAX_FACTS_BYTES).splitlines():
            try:
                fact = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(fact, dict):
                yield fact


def _read_fault(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        text = file.read(layout.FAULT_BYTES).decode("utf-8", "replace").strip()
    return text or None
