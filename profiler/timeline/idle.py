"""Why the device had nothing to do: every idle instant gets one cause from what the host did then.

In order: ``data`` while the training thread waited in its loader; ``sync`` while the host was blocked until
the device had drained, and from there until it launched again; ``launch`` while the host issued work
(operators, runtime calls, launch latency) and the device was faster; ``host`` while it did neither. Where
the trace has no host rows, or none around the instant, the cause is ``unknown``.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ..ingest.column_values import among
from ..ingest.columns import HostKind, Trace
from ..vocabulary import IdleCause
from .intervals import I64, Intervals, contains, empty, one, union

LOADER_PREFIX = "enumerate(DataLoader)#"
_SYNC = re.compile(
    r"(cuda|hip)(Device|Stream|Event)Synchronize|(cuda|hip)Memcpy(?:_v\d+|WithStream)?$|cu(Ctx|Stream|Event)Synchronize"
    r"|cuMemcpy(HtoD|DtoH|DtoD)?(_v2)?$"
)


def idle_causes(trace: Trace, idle: Intervals) -> dict[IdleCause, Intervals]:
    """The idle instants by cause: disjoint sets whose union is ``idle``."""
    if not len(trace.host):
        return _labelled(unknown=idle)
    latency = _launch_latency(trace, idle)
    known = idle & (one(int(trace.host.start_ns[0]), int(trace.host.end_ns.max())) | latency)
    data = known & loader_wait(trace)
    rest = known - data
    syncs = sync_calls(trace)
    sync = rest & (
        union(trace.host.start_ns[syncs], trace.host.end_ns[syncs]) | _after_sync(trace, idle, syncs)
    )
    rest = rest - sync
    launch = rest & (_issuing(trace) | latency)
    return _labelled(data=data, sync=sync, launch=launch, host=rest - launch, unknown=idle - known)


def _labelled(
    *,
    data: Intervals | None = None,
    launch: Intervals | None = None,
    sync: Intervals | None = None,
    host: Intervals | None = None,
    unknown: Intervals | None = None,
) -> dict[IdleCause, Intervals]:
    return {
        IdleCause.DATA: data or empty(),
        IdleCause.LAUNCH: launch or empty(),
        IdleCause.SYNC: sync or empty(),
        IdleCause.HOST: host or empty(),
        IdleCause.UNKNOWN: unknown or empty(),
    }


def loader_wait(trace: Trace) -> Intervals:
    """When a training thread was inside the loader's iterator."""
    matches = np.array([name.startswith(LOADER_PREFIX) for name in trace.names], dtype=np.bool_)
    rows = trace.host_rows(HostKind.ANNOTATION, HostKind.OP)
    rows = rows[trace.names_where(matches, trace.host.name[rows])]
    return union(trace.host.start_ns[rows], trace.host.end_ns[rows])


def sync_calls(trace: Trace) -> npt.NDArray[np.intp]:
    """Rows of the host table that block until the device has caught up."""
    matches = np.array([_SYNC.match(name) is not None for name in trace.names], dtype=np.bool_)
    rows = trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER)
    return rows[trace.names_where(matches, trace.host.name[rows])]


def _after_sync(trace: Trace, idle: Intervals, syncs: npt.NDArray[np.intp]) -> Intervals:
    """From the end of a blocking call, within the gap that it drained into, until the host launches again."""
    if not len(idle) or not len(syncs):
        return empty()
    blocked = union(trace.host.start_ns[syncs], trace.host.end_ns[syncs])
    drained = contains(blocked, idle.start)
    launches = launch_starts(trace)
    gaps_start, gaps_end = idle.start[drained], idle.end[drained]
    next_launch = _next_at_or_after(launches, _end_around(blocked, gaps_start), gaps_end)
    return union(gaps_start, np.minimum(next_launch, gaps_end))


def _end_around(a: Intervals, time_ns: I64) -> I64:
    """For each time inside ``a`` the end of the interval that holds it."""
    return a.end[np.searchsorted(a.start, time_ns, side="right") - 1]


def _next_at_or_after(times_ns: I64, after_ns: I64, otherwise_ns: I64) -> I64:
    index = np.searchsorted(times_ns, after_ns, side="left")
    found = index < len(times_ns)
    return (
        np.where(found, times_ns[np.minimum(index, len(times_ns) - 1)], otherwise_ns)
        if len(times_ns)
        else otherwise_ns
    )


def launch_starts(trace: Trace) -> I64:
    """Start times of the host calls that some device row answers to, sorted."""
    rows = trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER)
    linked = among(trace.host.correlation[rows], trace.device.correlation[trace.device.correlation >= 0])
    return trace.host.start_ns[rows[linked]]


def _issuing(trace: Trace) -> Intervals:
    rows = trace.host_rows(HostKind.OP, HostKind.RUNTIME, HostKind.DRIVER)
    return union(trace.host.start_ns[rows], trace.host.end_ns[rows])


def _launch_latency(trace: Trace, idle: Intervals) -> Intervals:
    """From the launching call to the start of the row that ends a gap."""
    launch_ns = launch_of_device_rows(trace)
    order = np.argsort(trace.device.start_ns, kind="stable")
    starts = trace.device.start_ns[order]
    index = np.searchsorted(starts, idle.end, side="left")
    found = index < len(starts)
    row = (
        order[np.minimum(index, max(len(starts) - 1, 0))]
        if len(starts)
        else np.zeros(len(idle), dtype=np.int64)
    )
    if not len(starts):
        return empty()
    usable = found & (launch_ns[row] >= 0)
    return union(np.maximum(launch_ns[row], idle.start)[usable], idle.end[usable])


def launch_of_device_rows(trace: Trace) -> I64:
    """For each device row the start of the host call that launched it, -1 where none is linked."""
    rows = launching_rows(trace)
    if not len(trace.host):
        return rows
    return np.where(rows >= 0, trace.host.start_ns[np.maximum(rows, 0)], -1)


def launching_rows(trace: Trace) -> I64:
    """For each device row the host row of the call that launched it, -1 where none is linked."""
    rows = trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER)
    rows = rows[trace.host.correlation[rows] >= 0]
    order = np.argsort(trace.host.correlation[rows], kind="stable")
    keys = trace.host.correlation[rows][order]
    if not len(keys):
        return np.full(len(trace.device), -1, dtype=np.int64)
    index = np.minimum(np.searchsorted(keys, trace.device.correlation), len(keys) - 1)
    linked = (keys[index] == trace.device.correlation) & (trace.device.correlation >= 0)
    return np.where(linked, rows[order][index], -1)
