"""The host threads of a window as chains of instants, with what the thread did between them by cause.

Only instants that something else depends on become nodes; the time between two of them is summed by cause,
each moment once: blocking call, else loader, else runtime call, else operator, else host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...profiler.ingest.column_values import distinct
from ...profiler.ingest.columns import HostKind, Trace
from ...profiler.timeline.idle import LOADER_PREFIX
from ...profiler.timeline.intervals import Intervals, covered_within, union
from .blocking_calls import BlockingCalls
from .graph import I64, Cause, Edges, edges, joined
from .handover import Handovers
from .window import Window

_BUSY = (HostKind.OP, HostKind.ANNOTATION, HostKind.RUNTIME, HostKind.DRIVER)
_WORKING = (HostKind.OP, HostKind.RUNTIME, HostKind.DRIVER)


def instants(trace: Trace, window: Window) -> dict[int, I64]:
    """Begins and ends of the events of each thread that runs operators or calls, within the window; sorted.

    The window's start counts as an instant of every thread, its end as one of the training thread.
    """
    rows = trace.host_rows(*_BUSY)
    working = trace.host_rows(*_WORKING)
    threads = {int(thread) for thread in distinct(trace.host.thread[working])}
    threads |= set() if window.thread is None else {window.thread}
    return {thread: _of_thread(trace, rows, window, thread) for thread in sorted(threads)}


def _of_thread(trace: Trace, rows: npt.NDArray[np.intp], window: Window, thread: int) -> I64:
    own = rows[trace.host.thread[rows] == thread]
    times = distinct(np.concatenate([trace.host.start_ns[own], trace.host.end_ns[own]]))
    times = times[(times > window.start_ns) & (times <= window.end_ns)]
    edge = [window.start_ns] + ([window.end_ns] if thread == window.thread else [])
    return distinct(np.concatenate([times, np.array(edge, dtype=np.int64)]))


@dataclass(frozen=True)
class HostNodes:
    """Nodes of the host threads, numbered from ``first``: ``times[thread]`` are its instants in order,
    sorted.
    """

    first: int
    times: Mapping[int, I64]

    @property
    def count(self) -> int:
        """Number of nodes."""
        return sum(len(times) for times in self.times.values())

    def at(self, thread: int, time_ns: I64) -> I64:
        """Node numbers of instants that are nodes."""
        return self.offset(thread) + np.searchsorted(self.times[thread], time_ns)

    def at_each(self, thread: I64, time_ns: I64) -> I64:
        """Node numbers of instants on a thread each."""
        found = np.zeros(len(thread), dtype=np.int64)
        for one in distinct(thread):
            own = thread == one
            found[own] = self.at(int(one), time_ns[own])
        return found

    def offset(self, thread: int) -> int:
        """Number of the first node of a thread."""
        return self.first + sum(len(self.times[one]) for one in self.times if one < thread)

    def all_times(self) -> I64:
        """Times of all nodes in order of their numbers."""
        return np.concatenate([self.times[t] for t in sorted(self.times)] or [np.zeros(0, dtype=np.int64)])


def host_nodes(
    first: int, window: Window, needed: list[tuple[I64, I64]], threads: Mapping[int, I64]
) -> HostNodes:
    """The nodes for the ``needed`` instants, each a thread and a time, and the outermost of every thread."""
    thread = np.concatenate([pair[0] for pair in needed])
    time = np.concatenate([pair[1] for pair in needed])
    times = {
        one: distinct(np.concatenate([time[thread == one], own[[0, -1]]])) for one, own in threads.items()
    }
    inside = {one: t[(t >= window.start_ns) & (t <= window.end_ns)] for one, t in times.items()}
    return HostNodes(first, dict(sorted(inside.items())))


def host_edges(trace: Trace, nodes: HostNodes, calls: BlockingCalls, handed: Handovers) -> Edges:
    """The chains of all threads in order of thread; what a thread spent waiting for another one weighs
    nothing.
    """
    return joined([_chain(trace, nodes, calls, handed, thread) for thread in nodes.times])


def _chain(trace: Trace, nodes: HostNodes, calls: BlockingCalls, handed: Handovers, thread: int) -> Edges:
    times = nodes.times[thread]
    start, end = times[:-1], times[1:]
    own = np.flatnonzero(calls.thread == thread)
    working = union(calls.start_ns[own], calls.start_ns[own] + calls.own_ns[own])
    waiting = union(calls.start_ns[own] + calls.own_ns[own], calls.end_ns[own])
    parts = _parts(trace, thread, (working, waiting), start, end)
    silent = _silent(handed, thread, start, end)
    node = nodes.offset(thread) + np.arange(len(times))
    chain = edges(node[:-1], node[1:], *((cause, np.where(silent, 0, ns)) for cause, ns in parts))
    waiting_ns = covered_within(waiting, start, end)
    reason = np.where(waiting_ns > 0, _reasons(calls, own, start), 0)
    return Edges(chain.source, chain.target, chain.reason, waiting_ns, reason, chain.parts)


def _reasons(calls: BlockingCalls, own: npt.NDArray[np.intp], time_ns: I64) -> I64:
    """Why the last call begun by each of the times blocks."""
    at = np.searchsorted(calls.start_ns[own], time_ns, side="right") - 1
    return np.where(at >= 0, calls.reason[own[at]], 0) if len(own) else np.zeros(len(time_ns), np.int64)


def _parts(
    trace: Trace, thread: int, blocking: tuple[Intervals, Intervals], start: I64, end: I64
) -> list[tuple[Cause, I64]]:
    working, waiting = blocking
    taken = working | waiting
    data = _of(trace, thread, HostKind.ANNOTATION, HostKind.OP, prefix=LOADER_PREFIX) - taken
    taken = taken | data
    launch = _of(trace, thread, HostKind.RUNTIME, HostKind.DRIVER) - taken
    taken = taken | launch
    operator = _of(trace, thread, HostKind.OP) - taken
    taken = taken | operator
    host_ns = (end - start) - covered_within(taken, start, end)
    return [
        (Cause.BLOCKING_CALL, covered_within(working, start, end)),
        (Cause.DATA, covered_within(data, start, end)),
        (Cause.LAUNCH, covered_within(launch, start, end)),
        (Cause.OPERATOR, covered_within(operator, start, end)),
        (Cause.HOST, host_ns),
    ]


def _of(trace: Trace, thread: int, *kinds: HostKind, prefix: str | None = None) -> Intervals:
    rows = trace.host_rows(*kinds)
    rows = rows[trace.host.thread[rows] == thread]
    if prefix is not None:
        matches = np.array([name.startswith(prefix) for name in trace.names], dtype=np.bool_)
        rows = rows[trace.names_where(matches, trace.host.name[rows])]
    return union(trace.host.start_ns[rows], trace.host.end_ns[rows])


def _silent(handed: Handovers, thread: int, start: I64, end: I64) -> npt.NDArray[np.bool_]:
    own = handed.to_thread == thread
    silent = np.zeros(len(start), dtype=np.bool_)
    at = np.searchsorted(start, handed.since_ns[own])
    usable = at < len(start)
    at, until = at[usable], handed.to_ns[own][usable]
    silent[at[end[at] == until]] = True
    return silent
