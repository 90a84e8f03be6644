"""Memory of loader workers: pages that they shared with the training process and that became copies of their own.

A forked worker shares its parent's memory until one of them writes to a page. Python writes to an object when it is
merely looked at, for it counts references, so that a data set of many Python objects is copied worker by worker. The
copies do not show in resident memory, which counts shared pages too: they show as private bytes that grow while
resident ones stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..facts import whole
from ..recording import RankRecording

MIN_READINGS = 3


@dataclass(frozen=True)
class WorkerMemory:
    """Memory of the workers of one loader, summed over those that live at the same time.

    Attributes:
        workers: how many were looked at.
        resident_bytes: resident bytes of one worker, the most of any.
        copied_bytes: private bytes that came while resident ones did not, over the recording.
        late_bytes: of these, those of the second half of the time.
        shared_bytes: bytes of no file that are still shared, each of which may be copied in each worker.
    """

    workers: int
    resident_bytes: int
    copied_bytes: int
    late_bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class _Reading:
    t: int
    private: int
    anonymous: int
    resident: int


def worker_memory(recording: RankRecording, loader: int) -> WorkerMemory | None:
    """Of the longest-lived process of each worker; None where too little was read."""
    found = [
        longest
        for worker in recording.workers
        if worker.loader == loader and worker.worker is not None
        if len(longest := _longest(worker.memory)) >= MIN_READINGS
    ]
    if not found:
        return None
    return WorkerMemory(
        workers=len(found),
        resident_bytes=max(readings[-1].resident for readings in found),
        copied_bytes=sum(_copied(readings[0], readings[-1]) for readings in found),
        late_bytes=sum(_copied(_middle(readings), readings[-1]) for readings in found),
        shared_bytes=sum(max(readings[-1].anonymous - readings[-1].private, 0) for readings in found),
    )


def _longest(facts: Iterable[Mapping[str, Any]]) -> list[_Reading]:
    by_process: defaultdict[int, list[_Reading]] = defaultdict(list)
    for fact in facts:
        values = [
            whole(fact, key) for key in ("pid", "t", "private_bytes", "anonymous_bytes", "resident_bytes")
        ]
        if None not in values:
            pid, *reading = (value or 0 for value in values)
            by_process[pid].append(_Reading(*reading))
    return max(by_process.values(), key=lambda readings: readings[-1].t - readings[0].t, default=[])


def _middle(readings: list[_Reading]) -> _Reading:
    half = (readings[0].t + readings[-1].t) / 2
    return min(readings, key=lambda reading: abs(reading.t - half))


def _copied(first: _Reading, last: _Reading) -> int:
    """Growth of private bytes that is no growth of resident ones."""
    return max(last.private - first.private - max(last.resident - first.resident, 0), 0)
