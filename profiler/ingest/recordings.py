"""What files other than timelines hold: allocator recordings, metric series, execution graphs.

A `Trace` (see `columns`) is a timeline; these are not, and each says only what its kind of file can.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .columns import I64, Trace


@dataclass(frozen=True)
class MemoryRecording:
    """Allocations over time on one device, from a CUDA memory snapshot or a raw memory timeline.

    ``time_s`` counts from the first event; where the file has no clock, both it and ``allocated_bytes`` are empty.
    Shapes (events,). Sizes that the format does not give are None.
    """

    source: str
    format: str
    time_s: npt.NDArray[np.float64]
    allocated_bytes: I64
    peak_allocated_bytes: int
    reserved_bytes: int | None = None
    reserved_in_use_bytes: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def unused_reserved_share(self) -> float | None:
        """Share of reserved memory that no tensor used when the snapshot was taken."""
        if not self.reserved_bytes or self.reserved_in_use_bytes is None:
            return None
        return 1 - self.reserved_in_use_bytes / self.reserved_bytes


@dataclass(frozen=True)
class Metric:
    """One column of a metric file for one device: mean, smallest and largest value."""

    name: str
    device: int | None
    mean: float
    smallest: float
    largest: float


@dataclass(frozen=True)
class MetricSeries:
    """Metrics sampled over time, from a CSV file."""

    source: str
    rows: int
    metrics: tuple[Metric, ...]
    format: str = "metric-csv"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExecutionGraph:
    """An execution trace (PyTorch or Chakra), which has no device times: how large it is."""

    source: str
    schema: str
    nodes: int
    collectives: int
    format: str = "execution-trace"
    notes: tuple[str, ...] = ()


NO_CLOCK = "its events tell no times: the peak of memory is known, its course is not"

Recording = Trace | MemoryRecording | MetricSeries | ExecutionGraph


def format_of(recording: Recording) -> str:
    """The name of the format that a recording was read from."""
    return recording.info.format if isinstance(recording, Trace) else recording.format


def named_by(recording: Recording, source: str) -> Recording:
    """The recording with another text for where it comes from."""
    if isinstance(recording, Trace):
        return replace(recording, info=replace(recording.info, source=source))
    return replace(recording, source=source)
