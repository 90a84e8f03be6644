"""The exclusive device view: every instant of the devices once, and idle time by cause.

By priority: compute kernel, exposed communication, exposed copy (memcpy and memset), idle. A process that
drives several devices is seen as one: an instant is idle where none of them works.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..ingest.columns import DeviceKind, Trace
from ..vocabulary import IdleCause
from .idle import idle_causes
from .intervals import I64, Intervals, covered_within, gaps, union
from .kernels import KINDS, KernelKind


@dataclass(frozen=True)
class DeviceView:
    """Disjoint sets of instants whose union is the whole span from 0 to the end of the trace."""

    compute: Intervals
    communication: Intervals
    copy: Intervals
    idle: Intervals
    causes: dict[IdleCause, Intervals]
    communication_busy: Intervals
    """all collective time, hidden or exposed"""
    copy_busy: Intervals


@dataclass(frozen=True)
class DeviceTimes:
    """The view summed over windows. Shapes (windows,), nanoseconds; the four add up to ``window_ns``."""

    window_ns: I64
    compute_ns: I64
    communication_ns: I64
    copy_ns: I64
    idle_ns: I64
    causes_ns: dict[IdleCause, I64]


def has_device_activity(trace: Trace) -> bool:
    """Whether anything ran on a device."""
    return len(trace.device_rows(DeviceKind.KERNEL, DeviceKind.MEMCPY, DeviceKind.MEMSET)) > 0


def copies_to_device(trace: Trace) -> npt.NDArray[np.intp]:
    """Rows of the copies from host to device."""
    rows = trace.device_rows(DeviceKind.MEMCPY)
    named = np.array(["HtoD" in name or "HostToDevice" in name for name in trace.names], dtype=np.bool_)
    return rows[trace.names_where(named, trace.device.name[rows])]


def device_view(trace: Trace, kinds: npt.NDArray[np.int64]) -> DeviceView:
    """The view of a trace; ``kinds`` comes from `kernels.device_kinds`."""
    collective = kinds == KINDS.index(KernelKind.COMMUNICATION)
    copying = np.isin(trace.device.kind, [DeviceKind.MEMCPY, DeviceKind.MEMSET])
    computing = (trace.device.kind == DeviceKind.KERNEL) & ~collective
    compute = _busy(trace, computing)
    communication_busy = _busy(trace, collective)
    copy_busy = _busy(trace, copying)
    communication = communication_busy - compute
    copy = copy_busy - compute - communication
    idle = gaps(compute | communication | copy, 0, max(trace.duration_ns, 1))
    return DeviceView(
        compute, communication, copy, idle, idle_causes(trace, idle), communication_busy, copy_busy
    )


def _busy(trace: Trace, rows: npt.NDArray[np.bool_]) -> Intervals:
    return union(trace.device.start_ns[rows], trace.device.end_ns[rows])


def times_within(view: DeviceView, start_ns: I64, end_ns: I64) -> DeviceTimes:
    """The view in each of the windows, which lie within the trace. Shapes (windows,)."""
    return DeviceTimes(
        window_ns=end_ns - start_ns,
        compute_ns=covered_within(view.compute, start_ns, end_ns),
        communication_ns=covered_within(view.communication, start_ns, end_ns),
        copy_ns=covered_within(view.copy, start_ns, end_ns),
        idle_ns=covered_within(view.idle, start_ns, end_ns),
        causes_ns={cause: covered_within(part, start_ns, end_ns) for cause, part in view.causes.items()},
    )
