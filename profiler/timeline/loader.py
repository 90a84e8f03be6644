"""What making batches costs: per sample, per worker, per transform, from what workers and training process wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..facts import text, whole
from ..recording import Frame, RankRecording, WorkerRecording
from ..report import LoaderLine, LoaderReport, TransformReport, WorkerReport
from .frames import innermost_user_frame
from .intervals import contains, union
from .pinning import pinning_report
from .steps import Steps

_START, _END, _SAMPLES, _WALL, _CPU, _COLLATE, _COLLATE_CPU, _WAIT, _READ, _PID = range(layout.BATCH_WORDS)

MAX_LINES = 12


def loader_report(recording: RankRecording, loader: int, steps: Steps) -> LoaderReport | None:
    """The cost of one loader's batches; None where no batch was made within the timed steps."""
    recordings = [worker for worker in recording.workers if worker.loader == loader]
    window = _window(steps)
    if window is None:
        return None
    inside = [_batches_within(worker.batches, window) for worker in recordings]
    batches = np.concatenate(inside) if inside else np.empty((0, layout.BATCH_WORDS), np.int64)
    if not len(batches):
        return None
    samples, n = max(int(batches[:, _SAMPLES].sum()), 1), len(batches)
    with_workers = any(worker.worker is not None for worker in recordings)
    sample_wall_s, collate_wall_s = _seconds(batches, _WALL) / samples, _seconds(batches, _COLLATE) / n
    sample_cpu_s, collate_cpu_s = _seconds(batches, _CPU) / samples, _seconds(batches, _COLLATE_CPU) / n
    wall_s = sample_wall_s * samples + collate_wall_s * n
    cpu_s = sample_cpu_s * samples + collate_cpu_s * n
    return LoaderReport(
        num_workers=sum(worker.worker is not None for worker in recordings),
        batches=n,
        samples_per_batch=samples / n,
        sample_wall_s=sample_wall_s,
        sample_cpu_s=sample_cpu_s,
        collate_wall_s=collate_wall_s,
        collate_cpu_s=collate_cpu_s,
        cpu_share=min(cpu_s / wall_s, 1.0) if wall_s > 0 else 0.0,
        core_wait_share=_core_wait_share(inside),
        bytes_per_sample=_bytes_per_sample(inside),
        start_s=_start_seconds(recording, loader) if with_workers else None,
        starts=_starts(recording, loader, window) if with_workers else 0,
        empty_share=_empty_share(recording, loader, window) if with_workers else None,
        worker_threads=max((n for worker in recordings for n in worker.threads), default=None),
        pinning=pinning_report(recording, loader, window),
        workers=[
            _worker(worker, mine, window)
            for worker, mine in zip(recordings, inside, strict=True)
            if len(mine)
        ],
        transforms=_transforms(recordings),
        lines=_lines(recordings, recording, window),
    )


def samples_per_batch(recording: RankRecording, loader: int) -> float | None:
    """Mean samples of all batches of a loader that were written down; None without any."""
    made = [worker.batches[:, _SAMPLES] for worker in recording.workers if worker.loader == loader]
    samples = np.concatenate(made) if made else np.empty(0)
    return float(samples.mean()) if len(samples) else None


def why_no_loader(recording: RankRecording, loader: int | None) -> str:
    """Why `loader_report` has nothing of the training's loader; ``loader`` is None where no loader was seen."""
    told = [*recording.notes, *(note for worker in recording.workers for note in worker.notes)]
    if any(note.startswith(layout.LOADING_FAULT) for note in told):
        return (
            "the recorder stopped measuring how batches are made after a fault of its own; its notes name it"
        )
    if loader is None:
        return "the training used no DataLoader"
    fetches = recording.of_code(layout.DATA_WAIT)[:, 3] % layout.READY_UNIT
    if (fetches == loader).any():
        return "the training took batches from its DataLoader, but nothing was written down of how they were made"
    return "the training took no batch from its DataLoader"


def _window(steps: Steps) -> tuple[int, int] | None:
    timed = np.flatnonzero(steps.timed)
    return None if not len(timed) else (int(steps.start_ns[timed[0]]), int(steps.end_ns[timed[-1]]))


def _batches_within(batches: NDArray[np.int64], window: tuple[int, int]) -> NDArray[np.int64]:
    """The batches that began in the window; of a loader far ahead, all there are."""
    inside = batches[(batches[:, _START] >= window[0]) & (batches[:, _START] < window[1])]
    return inside if len(inside) else batches


def _seconds(batches: NDArray[np.int64], column: int) -> float:
    return float(batches[:, column].sum()) / 1e9


def _worker(worker: WorkerRecording, batches: NDArray[np.int64], window: tuple[int, int]) -> WorkerReport:
    busy = float((batches[:, _END] - batches[:, _START]).sum())
    return WorkerReport(
        worker=worker.worker,
        batches=len(batches),
        busy_share=min(busy / (window[1] - window[0]), 1.0),
        batch_s=busy / len(batches) / 1e9,
    )


def _growth(batches: NDArray[np.int64], column: int) -> tuple[float, NDArray[np.bool_]]:
    """How much a running counter grew from batch to batch of the same process, and over which batches."""
    known = (
        (batches[1:, column] >= 0) & (batches[:-1, column] >= 0) & (batches[1:, _PID] == batches[:-1, _PID])
    )
    growth = np.diff(batches[:, column])[known]
    return float(growth.sum()), known


def _core_wait_share(inside: Sequence[NDArray[np.int64]]) -> float | None:
    waited = total = 0.0
    for batches in inside:
        growth, known = _growth(batches, _WAIT)
        waited += growth
        total += float((batches[1:, _END] - batches[1:, _START])[known].sum())
    return min(waited / total, 1.0) if total > 0 else None


def _bytes_per_sample(inside: Sequence[NDArray[np.int64]]) -> float | None:
    read = samples = 0.0
    for batches in inside:
        growth, known = _growth(batches, _READ)
        read += growth
        samples += float(batches[1:, _SAMPLES][known].sum())
    return read / samples if samples > 0 else None


def _loader_starts(recording: RankRecording, loader: int) -> NDArray[np.int64]:
    starts = recording.of_code(layout.LOADER_START)
    return starts[starts[:, 3] == loader]


def _start_seconds(recording: RankRecording, loader: int) -> float | None:
    """What the training thread waits at an epoch's turn: for old workers to end, new ones to start, the first batch."""
    starts = _loader_starts(recording, loader)
    if not len(starts):
        return None
    fetches, ends = recording.of_code(layout.DATA_WAIT), recording.of_code(layout.LOADER_END)
    first = np.searchsorted(fetches[:, 1], starts[:, 2])
    first = first[first < len(fetches)]
    waited = [starts, fetches[first], ends[ends[:, 3] % layout.READY_UNIT == loader]]
    return sum(float((spans[:, 2] - spans[:, 1]).sum()) for spans in waited) / len(starts) / 1e9


def _starts(recording: RankRecording, loader: int, window: tuple[int, int]) -> int:
    starts = _loader_starts(recording, loader)[:, 1]
    return int(np.count_nonzero((starts >= window[0]) & (starts < window[1])))


def _empty_share(recording: RankRecording, loader: int, window: tuple[int, int]) -> float | None:
    fetches = recording.of_code(layout.DATA_WAIT)
    mine = fetches[
        (fetches[:, 3] % layout.READY_UNIT == loader)
        & (fetches[:, 3] >= layout.READY_UNIT)
        & (fetches[:, 1] >= window[0])
        & (fetches[:, 1] < window[1])
    ]
    if not len(mine):
        return None
    return float(np.mean(mine[:, 3] // layout.READY_UNIT == 1))


def _transforms(workers: Sequence[WorkerRecording]) -> list[TransformReport]:
    """The transforms, summed over workers; each worker's last count per process is its total."""
    totals: dict[int, list[Any]] = {}
    for worker in workers:
        last = {(whole(fact, "pid"), whole(fact, "number")): fact for fact in worker.transforms}
        for (_, number), fact in sorted(last.items(), key=lambda item: str(item[0])):
            counts = [whole(fact, key) for key in ("calls", "wall_ns", "cpu_ns")]
            if number is None or None in counts:
                continue
            name, file, line = text(fact, "name") or "not named", text(fact, "file"), whole(fact, "line")
            total = totals.setdefault(number, [name, file, line, 0, 0, 0])
            total[3:] = [so_far + count for so_far, count in zip(total[3:], counts, strict=True)]
    return [
        TransformReport(
            name=name, file=file, line=line, calls=calls, wall_s=wall / calls / 1e9, cpu_s=cpu / calls / 1e9
        )
        for _, (name, file, line, calls, wall, cpu) in sorted(totals.items())
        if calls
    ]


def _lines(
    workers: Sequence[WorkerRecording], recording: RankRecording, window: tuple[int, int]
) -> list[LoaderLine]:
    """Where workers were seen while making a batch; samples between batches (waiting for work) do not count."""
    counts: Counter[Frame] = Counter()
    for worker in workers:
        for stack, count in _working_stacks(worker, window).items():
            frame = innermost_user_frame(worker.stacks.get(stack, ()), recording.process)
            if frame is not None:
                counts[frame] += count
    total = sum(counts.values())
    return [
        LoaderLine(
            file=frame.file, line=frame.line, function=frame.function, share=count / total, samples=count
        )
        for frame, count in counts.most_common(MAX_LINES)
    ]


def _working_stacks(worker: WorkerRecording, window: tuple[int, int]) -> Counter[int]:
    times = worker.samples[:, 0]
    batches = union(worker.batches[:, _START], worker.batches[:, _END])
    working = contains(batches, times) & (times >= window[0]) & (times < window[1])
    return Counter(worker.samples[working, 1].tolist())
