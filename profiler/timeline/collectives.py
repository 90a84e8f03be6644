"""Collectives matched across ranks: time on the wire against time spent waiting for the last rank to arrive.

A collective kernel runs on every rank of its group from the moment that rank arrives until all have arrived
and the data has moved. So the rank that waits least in its collectives is the one that the others wait for.
Clocks of ranks are aligned by the ends of matched collectives, which fall together on every rank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..ingest.columns import Trace
from .idle import launch_of_device_rows
from .intervals import I64
from .kernels import KINDS, KernelKind

_OPERATION = re.compile(
    r"all_?reduce|reduce_?scatter|all_?gather|all_?to_?all|send_?recv|broadcast|reduce|gather|scatter|generic",
    re.IGNORECASE,
)
FEW_MICROSECONDS_NS = 5_000
"""Ranks that arrive within this of each other arrive together; a launch alone takes as long."""


@dataclass(frozen=True)
class CollectiveTimes:
    """Collective kernels of one rank in order of start, on the clock of the file. Shapes (collectives,)."""

    operation: tuple[str, ...]
    start_ns: I64
    end_ns: I64


@dataclass(frozen=True)
class RankWaiting:
    """What one rank did in the matched collectives, in nanoseconds per collective summed up."""

    rank: int
    waiting_ns: int
    wire_ns: int
    times_last: int
    delay_caused_ns: int
    """how much later than the median of the others it arrived, over the times it came last"""


@dataclass(frozen=True)
class MatchedCollectives:
    """Collectives of several ranks laid side by side.

    ``late_rank`` is the rank that others wait for, None where ranks arrive together or no rank stands out.
    ``skew_*`` are from the first to the last arrival.
    """

    matched: int
    unmatched: int
    skew_mean_ns: float
    skew_max_ns: int
    late_rank: int | None
    ranks: tuple[RankWaiting, ...]


def collective_times(trace: Trace, kinds: npt.NDArray[np.int64]) -> CollectiveTimes:
    """The collective kernels that were launched within a trace; all of them where no launch is linked."""
    rows = np.flatnonzero(kinds == KINDS.index(KernelKind.COMMUNICATION))
    launched = launch_of_device_rows(trace)[rows] >= 0
    rows = rows[launched] if launched.any() else rows
    groups = {one.row: one.group for one in trace.collectives}
    names = [_key(trace.names[trace.device.name[row]], groups.get(int(row))) for row in rows]
    return CollectiveTimes(
        tuple(names),
        trace.device.start_ns[rows] + trace.info.origin_ns,
        trace.device.end_ns[rows] + trace.info.origin_ns,
    )


def _key(name: str, group: str | None) -> str:
    found = _OPERATION.search(name)
    operation = found.group(0).lower().replace("_", "") if found else name[:64]
    return operation if group is None else f"{operation} in {group}"


def match(by_rank: Mapping[int, CollectiveTimes]) -> MatchedCollectives | None:
    """Match the collectives of several ranks; None with fewer than two ranks or nothing in common.

    The n-th of a kind on one rank belongs to the n-th on every other; where a trace began in the midst of a
    step and has more than the others, its last ones count.
    """
    ranks = sorted(by_rank)
    if len(ranks) < 2:
        return None
    starts, ends, unmatched = _aligned([by_rank[rank] for rank in ranks])
    if not starts.shape[1]:
        return None
    offset = np.median(ends - np.median(ends, axis=0), axis=1)[:, None]
    starts, ends = starts - offset, ends - offset
    last = starts.max(axis=0)
    waiting = np.minimum(last, ends) - starts
    wire = np.maximum(ends - last, 0)
    return MatchedCollectives(
        matched=starts.shape[1],
        unmatched=unmatched,
        skew_mean_ns=float((last - starts.min(axis=0)).mean()),
        skew_max_ns=int((last - starts.min(axis=0)).max()),
        late_rank=_late_rank(ranks, starts, waiting),
        ranks=tuple(_waiting(rank, row, starts, waiting, wire) for row, rank in enumerate(ranks)),
    )


def _aligned(
    columns: Sequence[CollectiveTimes],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int]:
    """Starts and ends, shapes (ranks, matched), from the first start, and how many found no partner."""
    origin = min((int(column.start_ns.min()) for column in columns if len(column.start_ns)), default=0)
    common = set(columns[0].operation).intersection(*(column.operation for column in columns[1:]))
    places = [_places(column, common) for column in columns]
    starts: list[npt.NDArray[np.float64]] = []
    ends: list[npt.NDArray[np.float64]] = []
    for operation in sorted(common):
        count = min(len(place[operation]) for place in places)
        picked = [place[operation][-count:] for place in places]
        starts.append(
            np.array([c.start_ns[p] - origin for c, p in zip(columns, picked, strict=True)], dtype=np.float64)
        )
        ends.append(
            np.array([c.end_ns[p] - origin for c, p in zip(columns, picked, strict=True)], dtype=np.float64)
        )
    if not starts:
        return (
            np.zeros((len(columns), 0)),
            np.zeros((len(columns), 0)),
            sum(len(c.operation) for c in columns),
        )
    matched = np.concatenate(starts, axis=1)
    return matched, np.concatenate(ends, axis=1), sum(len(c.operation) for c in columns) - matched.size


def _places(column: CollectiveTimes, wanted: set[str]) -> dict[str, npt.NDArray[np.intp]]:
    names = np.array(column.operation, dtype=np.object_)  # as text, all would be as wide as the longest
    return {operation: np.flatnonzero(names == operation) for operation in wanted}


def _late_rank(
    ranks: Sequence[int], starts: npt.NDArray[np.float64], waiting: npt.NDArray[np.float64]
) -> int | None:
    """The rank that waits least, if the others wait longer than launches jitter."""
    total = waiting.sum(axis=1)
    least = int(total.argmin())
    others = np.delete(total, least)
    if float(np.median(others) - total[least]) < FEW_MICROSECONDS_NS * starts.shape[1]:
        return None
    return ranks[least]


def _waiting(
    rank: int,
    row: int,
    starts: npt.NDArray[np.float64],
    waiting: npt.NDArray[np.float64],
    wire: npt.NDArray[np.float64],
) -> RankWaiting:
    last = starts.argmax(axis=0) == row
    behind = starts[row] - np.median(np.delete(starts, row, axis=0), axis=0)
    return RankWaiting(
        rank=rank,
        waiting_ns=int(np.maximum(waiting[row], 0).sum()),
        wire_ns=int(wire[row].sum()),
        times_last=int(last.sum()),
        delay_caused_ns=int(np.maximum(behind[last], 0).sum()),
    )
