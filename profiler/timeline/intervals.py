"""Interval algebra on numpy arrays: sets of instants as sorted, disjoint, closed-open intervals of int64
nanoseconds.

Everything is vectorised and linear in the number of intervals once they are sorted. Knows nothing of traces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Intervals:
    """A set of instants: ``[start[i], end[i])``, sorted, disjoint, not touching, none empty. Shapes (n,)."""

    start: I64
    end: I64

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total_ns(self) -> int:
        """The length of the set."""
        return int((self.end - self.start).sum())

    def __or__(self, other: Intervals) -> Intervals:
        return union(np.concatenate([self.start, other.start]), np.concatenate([self.end, other.end]))

    def __and__(self, other: Intervals) -> Intervals:
        return intersection(self, other)

    def __sub__(self, other: Intervals) -> Intervals:
        return difference(self, other)


def empty() -> Intervals:
    """The set without instants."""
    none = np.zeros(0, dtype=np.int64)
    return Intervals(none, none)


def one(start_ns: int, end_ns: int) -> Intervals:
    """One interval; empty if ``end_ns`` does not lie behind ``start_ns``."""
    return union(np.array([start_ns], dtype=np.int64), np.array([end_ns], dtype=np.int64))


def union(start_ns: I64, end_ns: I64) -> Intervals:
    """The instants covered by any of the given intervals, in any order, overlapping or empty. Shapes (n,)
    and (n,).
    """
    kept = end_ns > start_ns
    start, end = start_ns[kept], end_ns[kept]
    if not len(start):
        return empty()
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    first = np.concatenate([[True], start[1:] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return Intervals(start[first], reach[last])


def intersection(a: Intervals, b: Intervals) -> Intervals:
    """The instants in both sets."""
    low = np.searchsorted(b.end, a.start, side="right")
    high = np.searchsorted(b.start, a.end, side="left")
    counts = np.maximum(high - low, 0)
    left = np.repeat(np.arange(len(a)), counts)
    offsets = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = np.repeat(low, counts) + offsets
    return Intervals(np.maximum(a.start[left], b.start[right]), np.minimum(a.end[left], b.end[right]))


def difference(a: Intervals, b: Intervals) -> Intervals:
    """The instants of ``a`` that are not in ``b``."""
    if not len(a) or not len(b):
        return a
    return intersection(a, gaps(b, int(a.start[0]), int(a.end[-1])))


def gaps(a: Intervals, start_ns: int, end_ns: int) -> Intervals:
    """The instants from ``start_ns`` to ``end_ns`` that are not in ``a``."""
    inside = clip(a, start_ns, end_ns)
    starts = np.concatenate([np.array([start_ns], dtype=np.int64), inside.end])
    ends = np.concatenate([inside.start, np.array([end_ns], dtype=np.int64)])
    kept = ends > starts
    return Intervals(starts[kept], ends[kept])


def clip(a: Intervals, start_ns: int, end_ns: int) -> Intervals:
    """The instants of ``a`` from ``start_ns`` to ``end_ns``."""
    start, end = np.maximum(a.start, start_ns), np.minimum(a.end, end_ns)
    kept = end > start
    return Intervals(start[kept], end[kept])


def covered_before(a: Intervals, time_ns: I64) -> I64:
    """For each of the times, how much of ``a`` lies before it. Shapes (m,) and (m,), nanoseconds."""
    if not len(a):
        return np.zeros(len(time_ns), dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(a.end - a.start)])
    index = np.searchsorted(a.start, time_ns, side="right")
    last = np.maximum(index - 1, 0)
    beyond = np.maximum(np.where(index > 0, a.end[last] - time_ns, 0), 0)
    return before[index] - beyond


def covered_within(a: Intervals, start_ns: I64, end_ns: I64) -> I64:
    """For each window, how much of ``a`` lies in it. Shapes (m,), (m,) and (m,), nanoseconds."""
    return covered_before(a, np.maximum(end_ns, start_ns)) - covered_before(a, start_ns)


def contains(a: Intervals, time_ns: I64) -> npt.NDArray[np.bool_]:
    """For each of the times, whether it lies in ``a``. Shapes (m,) and (m,)."""
    if not len(a):
        return np.zeros(len(time_ns), dtype=np.bool_)
    index = np.searchsorted(a.start, time_ns, side="right") - 1
    return (index >= 0) & (time_ns < a.end[np.maximum(index, 0)])
