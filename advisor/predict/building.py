"""Builds the dependency graph of a trace: host threads, launches, streams, and every wait between them.

Weights are measured durations and the least delays that the trace itself shows. A start that is later than
these allow keeps its delay only while that is the size of ordinary jitter; a larger delay stays out of the
graph, so that the unchanged replay comes out short and tells how much of the trace the graph does not
explain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...profiler.ingest.column_values import among, distinct
from ...profiler.ingest.columns import Trace
from .blocking_calls import WAKE_LIMIT_NS, BlockingCalls, blocking_calls
from .device_work import DeviceWork, Streams, device_work, late_waits, stream_waits, typical
from .graph import I64, Cause, Edges, Graph, Lane, Mask, assemble, edges, joined
from .handover import Handovers, handovers
from .host_timeline import HostNodes, host_edges, host_nodes, instants
from .starts import Launches, Starts, launches_of
from .window import Window, replay_window

START_NODE = 0
COMPLETION_NODE = 1
FIRST_FREE_NODE = 2
WAKE_NS = 1_000


@dataclass(frozen=True)
class Pieces:
    """Nodes and edges of one rank, not yet in order.

    ``work_start`` are the nodes where device work starts, the node behind each is where it ends;
    ``window_start_ns`` is node 0 on the trace's clock.
    """

    time_ns: I64
    edges: Edges
    lanes: tuple[Lane, ...]
    host_end: int
    steps: int
    window_start_ns: int
    work: DeviceWork
    work_start: I64
    notes: tuple[str, ...]


def build_graph(trace: Trace) -> Graph:
    """The graph of a trace's steps, or of all of it where it marks no steps."""
    pieces = build_pieces(trace)
    return assemble(
        pieces.time_ns,
        pieces.edges,
        lanes=pieces.lanes,
        host_end=pieces.host_end,
        completion=COMPLETION_NODE,
        steps=pieces.steps,
        notes=pieces.notes,
    )


def build_pieces(trace: Trace) -> Pieces:
    """The nodes and edges of a trace."""
    window = replay_window(trace)
    work = device_work(trace, window)
    streams = Streams(work)
    calls = blocking_calls(trace, window, work, streams)
    threads = instants(trace, window)
    handed = handovers(threads)
    launches = launches_of(trace, work)
    nodes = host_nodes(FIRST_FREE_NODE, window, _needed(launches, calls, handed), threads)
    work_start = FIRST_FREE_NODE + nodes.count + 2 * np.arange(len(work), dtype=np.int64)
    awaited, waiting = stream_waits(trace, window, work, streams)
    known = Starts(
        work, launches, typical(work), staged=_staged(work, calls), awaited=awaited, waiting=waiting
    )
    late = np.flatnonzero(known.delay_ns > known.jitter_ns)
    starts = known.with_late_waits(late_waits(work, late, known.explained_ns))
    launch_nodes = nodes.at_each(launches.thread, launches.time_ns)
    groups = [
        host_edges(trace, nodes, calls, handed),
        _handover_edges(nodes, handed),
        *_device_edges(starts, work, work_start, launch_nodes=launch_nodes, window=window),
        _wait_edges(nodes, calls, work, work_start),
        _start_edges(nodes),
        _completion_edges(nodes, work, work_start),
    ]
    time_ns = _times(window, nodes, work)
    return Pieces(
        time_ns=time_ns,
        edges=joined(groups),
        lanes=tuple(_lanes(work, work_start)),
        host_end=_host_end(nodes, window),
        steps=window.steps,
        window_start_ns=window.start_ns,
        work=work,
        work_start=work_start,
        notes=starts.notes(),
    )


def _needed(launches: Launches, calls: BlockingCalls, handed: Handovers) -> list[tuple[I64, I64]]:
    return [
        (launches.thread, launches.time_ns),
        (calls.thread, calls.start_ns),
        (calls.thread, calls.end_ns),
        (handed.from_thread, handed.from_ns),
        (handed.to_thread, handed.since_ns),
        (handed.to_thread, handed.to_ns),
    ]


def _times(window: Window, nodes: HostNodes, work: DeviceWork) -> I64:
    device = np.stack([work.start_ns, work.end_ns], axis=1).reshape(-1)
    host = nodes.all_times()
    last = [int(times[-1]) for times in nodes.times.values() if len(times)]
    last += [int(work.end_ns.max())] if len(work) else []
    ends = np.array([window.start_ns, max(last, default=window.end_ns)], dtype=np.int64)
    return np.concatenate([ends, host, device]) - window.start_ns


def _host_end(nodes: HostNodes, window: Window) -> int:
    if window.thread is None:
        return COMPLETION_NODE
    return nodes.offset(window.thread) + len(nodes.times[window.thread]) - 1


def _handover_edges(nodes: HostNodes, handed: Handovers) -> Edges:
    return edges(
        nodes.at_each(handed.from_thread, handed.from_ns),
        nodes.at_each(handed.to_thread, handed.to_ns),
        (Cause.HOST, handed.to_ns - handed.from_ns),
    )


def _start_edges(nodes: HostNodes) -> Edges:
    firsts = np.array([nodes.offset(thread) for thread in nodes.times], dtype=np.int64)
    return edges(np.full(len(firsts), START_NODE), firsts)


def _completion_edges(nodes: HostNodes, work: DeviceWork, work_start: I64) -> Edges:
    tails = [nodes.offset(thread) + len(times) - 1 for thread, times in nodes.times.items()]
    for stream in distinct(work.stream):
        rows = np.flatnonzero(work.stream == stream)
        tails += sorted(
            {int(work_start[rows[-1]]) + 1, int(work_start[rows[work.end_ns[rows].argmax()]]) + 1}
        )
    source = np.array(tails, dtype=np.int64)
    return edges(source, np.full(len(source), COMPLETION_NODE))


def _lanes(work: DeviceWork, work_start: I64) -> list[Lane]:
    lanes: list[Lane] = []
    for stream in distinct(work.stream):
        rows = np.flatnonzero(work.stream == stream)
        lanes.append(Lane(work_start[rows], work.cause[rows], _one_after_another(work, rows)))
    return lanes


def _one_after_another(work: DeviceWork, rows: npt.NDArray[np.intp]) -> I64:
    """By how much each piece of a stream prolongs what came before: overlapping work counts once."""
    reach = np.maximum.accumulate(work.end_ns[rows])
    before = np.concatenate([work.start_ns[rows][:1], reach[:-1]])
    return reach - np.minimum(np.maximum(before, work.start_ns[rows]), reach)


def _wait_edges(nodes: HostNodes, calls: BlockingCalls, work: DeviceWork, work_start: I64) -> Edges:
    call, awaited = calls.wait_call, calls.wait_work
    moment = np.where(calls.wait_begin, work.start_ns[awaited], work.end_ns[awaited])
    gap = calls.end_ns[call] - moment
    latest = np.full(len(calls), np.iinfo(np.int64).min, dtype=np.int64)
    np.maximum.at(latest, call, moment)
    last = moment == latest[call]
    kept = np.where(last, np.minimum(gap, WAKE_LIMIT_NS), np.minimum(gap, WAKE_NS))
    # A call that waits for its own copy to begin goes on until the memory is free: that is the copy's time.
    staging = calls.wait_begin
    return edges(
        work_start[awaited] + np.where(staging, 0, 1),
        nodes.at_each(calls.thread[call], calls.end_ns[call]),
        (Cause.WAKE, np.where(staging, 0, kept)),
        (work.cause[awaited], np.where(staging, gap, 0)),
        reason=calls.reason[call],
    )


def _device_edges(
    starts: Starts, work: DeviceWork, work_start: I64, *, launch_nodes: I64, window: Window
) -> list[Edges]:
    return [
        edges(work_start, work_start + 1, (work.cause, work.end_ns - work.start_ns)),
        *starts.stream_edges(work_start),
        starts.launch_edges(work_start, launch_nodes),
        *starts.wait_edges(work_start),
        starts.unlinked_edges(work_start, window.start_ns),
    ]


def _staged(work: DeviceWork, calls: BlockingCalls) -> Mask:
    """Which work is a copy whose own call waits for it."""
    own = work.call[calls.wait_work] == calls.row[calls.wait_call]
    return work.linked & among(work.call, calls.row[calls.wait_call[own]])
