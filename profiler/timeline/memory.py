"""Device memory over time, from allocator events of a trace, a snapshot or a raw timeline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..ingest.columns import ABSENT, I64, MemoryEvents

POINTS = 400
"""How many points of a curve are kept for drawing."""


@dataclass(frozen=True)
class MemoryCurve:
    """Allocated bytes over time on one device. Shapes (points,); peaks are over all events, not only the
    points kept.

    ``allocated_bytes`` counts from the first event where the file gives no totals, so its level is then
    relative.
    """

    time_s: npt.NDArray[np.float64]
    allocated_bytes: I64
    peak_allocated_bytes: int
    peak_reserved_bytes: int | None
    relative: bool


def memory_curve(events: MemoryEvents) -> MemoryCurve | None:
    """The curve of the device with most events; None where no device allocation was recorded."""
    on_device = events.device >= 0
    if not on_device.any():
        return None
    devices, counts = np.unique(events.device[on_device], return_counts=True)
    rows = np.flatnonzero(events.device == devices[counts.argmax()])
    totals = events.allocated[rows]
    relative = bool((totals == ABSENT).any())
    level = np.cumsum(events.bytes[rows]) if relative else totals
    reserved = events.reserved[rows]
    return curve_of(
        events.time_ns[rows] / 1e9,
        level,
        None if (reserved == ABSENT).all() else int(reserved.max()),
        relative,
    )


def curve_of(
    time_s: npt.NDArray[np.float64], level: I64, peak_reserved_bytes: int | None, relative: bool
) -> MemoryCurve:
    """A curve with at most `POINTS` points: the highest of each stretch of equally many events."""
    kept = highest_of_each_stretch(level, POINTS)
    return MemoryCurve(time_s[kept], level[kept], int(level.max()), peak_reserved_bytes, relative)


def highest_of_each_stretch(level: I64, stretches: int) -> npt.NDArray[np.intp]:
    """Places of the highest value in each of ``stretches`` runs of equally many values."""
    if len(level) <= stretches:
        return np.arange(len(level))
    edges = np.linspace(0, len(level), stretches + 1).astype(np.intp)
    return np.array([low + int(level[low:high].argmax()) for low, high in pairwise(edges.tolist())])
