"""Exclusive partition of a thread's time: every instant once, to the innermost span that covers it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Segments:
    """Consecutive pieces of one thread's time, each with one label.

    Attributes:
        bounds_ns: shape (n + 1,), increasing.
        labels: shape (n,), the label of the piece between ``bounds_ns[i]`` and ``bounds_ns[i + 1]``.
    """

    bounds_ns: Ints
    labels: Ints

    @property
    def durations_ns(self) -> Ints:
        """Length of each piece, shape (n,)."""
        return np.diff(self.bounds_ns)

    def label_at(self, times_ns: Ints) -> Ints:
        """The label at each time, shape of ``times_ns``; -1 outside the bounds."""
        if not len(self.labels):
            return np.full(times_ns.shape, -1, dtype=np.int64)
        index = np.searchsorted(self.bounds_ns, times_ns, side="right") - 1
        inside = (index >= 0) & (index < len(self.labels))
        return np.where(inside, self.labels[np.clip(index, 0, len(self.labels) - 1)], -1)


def paint(start_ns: Ints, end_ns: Ints, labels: Ints, *, cuts_ns: Ints, ground: int) -> Segments:
    """Lay spans over one another, longest first, so that the innermost of nested spans shows.

    Args:
        start_ns: shape (n,), starts of the spans.
        end_ns: shape (n,), their ends.
        labels: shape (n,), their labels.
        cuts_ns: shape (m,), m >= 2, increasing: the partition runs from the first to the last cut, and no piece
            crosses a cut.
        ground: the label where no span is.

    Returns:
        The partition: its pieces sum to ``cuts_ns[-1] - cuts_ns[0]``.
    """
    start, end = np.clip(start_ns, cuts_ns[0], cuts_ns[-1]), np.clip(end_ns, cuts_ns[0], cuts_ns[-1])
    seen = end > start
    start, end, labels = start[seen], end[seen], labels[seen]
    bounds = np.unique(np.concatenate([start, end, cuts_ns]))
    painted = np.full(len(bounds) - 1, ground, dtype=np.int64)
    first, last = np.searchsorted(bounds, start), np.searchsorted(bounds, end)
    level = _nesting_level(start, end)
    for depth in range(int(level.max(initial=-1)) + 1):
        here = level == depth
        pieces, owner = _expand(first[here], last[here])
        painted[pieces] = labels[here][owner]
    return Segments(bounds, painted)


def _nesting_level(start: Ints, end: Ints) -> Ints:
    """How many other spans each span lies in, shape (n,); of equal spans the later one counts as inner."""
    order = np.lexsort((np.arange(len(start)), -end, start))
    level = np.zeros(len(start), dtype=np.int64)
    open_ends: list[int] = []
    for index in order:
        while open_ends and open_ends[-1] <= start[index]:
            open_ends.pop()
        level[index] = len(open_ends)
        open_ends.append(int(end[index]))
    return level


def _expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All piece numbers of the ranges ``first[i]:last[i]``, and the i that each belongs to."""
    lengths = last - first
    owner = np.repeat(np.arange(len(first)), lengths)
    offset = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(first, lengths) + offset, owner
