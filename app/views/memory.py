"""Device memory over time, with its exact peaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...profiler.report import MemoryCurveInfo, Report
from . import format as text

_GIB = 1024**3


@dataclass(frozen=True)
class MemoryView:
    """The curve in GiB over seconds; its points are thinned, its peaks are not."""

    time_s: tuple[float, ...]
    allocated_gib: tuple[float, ...]
    peak_allocated_gib: float
    peak_reserved_gib: float | None
    peak_allocated: str
    peak_reserved: str
    caption: str


def memory_view(report: Report) -> MemoryView | None:
    """The memory curve of a report; None where there is none."""
    curve = report.memory
    if curve is None:
        return None
    reserved = curve.peak_reserved_bytes
    return MemoryView(
        time_s=tuple(curve.time_s),
        allocated_gib=tuple(count / _GIB for count in curve.allocated_bytes),
        peak_allocated_gib=curve.peak_allocated_bytes / _GIB,
        peak_reserved_gib=None if reserved is None else reserved / _GIB,
        peak_allocated=text.size(curve.peak_allocated_bytes),
        peak_reserved=text.unavailable("not told by the trace") if reserved is None else text.size(reserved),
        caption=" ".join(_sentences(curve)),
    )


def _sentences(curve: MemoryCurveInfo) -> Iterator[str]:
    yield f"Allocated at most {text.size(curve.peak_allocated_bytes)}"
    if curve.peak_reserved_bytes is None:
        yield "(reserved: not told by the trace)."
    else:
        unused = max(0, curve.peak_reserved_bytes - curve.peak_allocated_bytes)
        reserved = text.size(curve.peak_reserved_bytes)
        yield f"of {reserved} reserved; {text.size(unused)} of it was not in use at that peak."
    if curve.relative:
        yield "The curve starts at an unknown level: heights are changes since the trace began."
    yield "Memory outside PyTorch's allocator (communication buffers, other processes) is not in it."
