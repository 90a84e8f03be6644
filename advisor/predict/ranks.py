"""Several ranks as one graph, joined where they meet: in collectives.

A collective ends on every rank once the last rank has arrived and the data has moved. So its measured length
on an early rank, which is mostly waiting, becomes a dependency on the last rank, and only the time on the
wire stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...profiler.ingest.columns import Trace
from ...profiler.timeline.collectives import collective_times
from ...profiler.timeline.kernels import KernelKind, device_kinds
from .building import Pieces, build_graph, build_pieces
from .graph import I64, Cause, Edges, Graph, Lane, assemble, device_cause, edges, joined, without

START_NODE, COMPLETION_NODE, HOST_END_NODE = range(3)
FIRST_FREE_NODE = 3


@dataclass(frozen=True)
class Meetings:
    """Collectives that all ranks took part in. Shapes (meetings, ranks).

    ``place`` is each rank's piece of `DeviceWork`; times are on the file's clock less each rank's offset, so
    that matched collectives end together.
    """

    place: I64
    start_ns: I64
    end_ns: I64
    offset_ns: I64

    def arrival_ns(self) -> I64:
        """When the last rank arrived; no later than the first rank was done."""
        return np.minimum(self.start_ns.max(axis=1), self.end_ns.min(axis=1))


def build_ranks_graph(traces: Sequence[Trace]) -> Graph:
    """The joint graph of the ranks of one run; of one trace the same as `build_graph`."""
    if len(traces) == 1:
        return build_graph(traces[0])
    pieces = [build_pieces(trace) for trace in traces]
    met = meetings(traces, pieces)
    shift = _shifts(traces, pieces, met)
    first = FIRST_FREE_NODE + np.cumsum([0, *(len(one.time_ns) for one in pieces)])
    begins = np.stack([p.work_start[met.place[:, r]] + first[r] for r, p in enumerate(pieces)], axis=1)
    arrival = met.arrival_ns() - _zero(traces, pieces, met)
    time_ns = np.concatenate(
        [np.zeros(3, np.int64), *(p.time_ns + s for p, s in zip(pieces, shift, strict=True))]
    )
    meeting_node = len(time_ns) + np.arange(len(arrival), dtype=np.int64)
    time_ns = np.concatenate([time_ns, arrival])
    ends = [int(first[r]) + 1 for r in range(len(pieces))]
    hosts = [one.host_end + int(first[r]) for r, one in enumerate(pieces)]
    time_ns[COMPLETION_NODE], time_ns[HOST_END_NODE] = time_ns[ends].max(), time_ns[hosts].max()
    groups = [
        *(_moved(p, int(first[r]), begins[:, r]) for r, p in enumerate(pieces)),
        edges(np.zeros(len(pieces), np.int64), first[:-1], (Cause.UNKNOWN, np.array(shift))),
        _into(ends, COMPLETION_NODE),
        _into(hosts, HOST_END_NODE),
        *_meeting_edges(met, begins, meeting_node),
    ]
    return assemble(
        time_ns,
        joined(groups),
        lanes=tuple(lane for r, p in enumerate(pieces) for lane in _lanes(p, int(first[r]), met, r)),
        host_end=HOST_END_NODE,
        completion=COMPLETION_NODE,
        steps=min(one.steps for one in pieces),
        notes=(f"{len(traces)} ranks meet in {len(arrival)} collectives",),
    )


def meetings(traces: Sequence[Trace], pieces: Sequence[Pieces]) -> Meetings:
    """Match the collectives of the ranks: of those in the windows, the last n of each kind on every rank."""
    found = [_collectives(trace, one) for trace, one in zip(traces, pieces, strict=True)]
    common = sorted(set(found[0]).intersection(*found[1:]))
    rows: list[I64] = []
    for operation in common:
        count = min(len(by_rank[operation]) for by_rank in found)
        rows.append(np.array([by_rank[operation][-count:] for by_rank in found], dtype=np.int64).T)
    place = np.concatenate([*rows, np.zeros((0, len(traces)), dtype=np.int64)])
    columns = list(zip(traces, pieces, place.T, strict=True))
    start = np.stack([p.work.start_ns[at] + t.info.origin_ns for t, p, at in columns], axis=1)
    end = np.stack([p.work.end_ns[at] + t.info.origin_ns for t, p, at in columns], axis=1)
    offset = np.zeros(len(traces), dtype=np.int64)
    if len(place):
        offset = np.median(end - end.min(axis=1, keepdims=True), axis=0).astype(np.int64)
    return Meetings(place, start - offset, end - offset, offset)


def _collectives(trace: Trace, pieces: Pieces) -> dict[str, list[int]]:
    times = collective_times(trace, device_kinds(trace))
    work, origin = pieces.work, trace.info.origin_ns
    moving = np.flatnonzero(work.cause == device_cause(KernelKind.COMMUNICATION))
    places = {(int(work.start_ns[i]), int(work.end_ns[i])): int(i) for i in moving}
    found: dict[str, list[int]] = {}
    for operation, start, end in zip(times.operation, times.start_ns, times.end_ns, strict=True):
        place = places.get((int(start) - origin, int(end) - origin))
        if place is not None:
            found.setdefault(operation, []).append(place)
    return found


def _begins(traces: Sequence[Trace], pieces: Sequence[Pieces], met: Meetings) -> I64:
    starts = [one.window_start_ns + trace.info.origin_ns for trace, one in zip(traces, pieces, strict=True)]
    return np.array(starts, dtype=np.int64) - met.offset_ns


def _zero(traces: Sequence[Trace], pieces: Sequence[Pieces], met: Meetings) -> int:
    return int(_begins(traces, pieces, met).min())


def _shifts(traces: Sequence[Trace], pieces: Sequence[Pieces], met: Meetings) -> list[int]:
    begins = _begins(traces, pieces, met)
    return [int(one) for one in begins - begins.min()]


def _moved(pieces: Pieces, by: int, met: I64) -> Edges:
    """The edges of a rank with its nodes renumbered, without the own lengths of the collectives that it met
    in.
    """
    own = pieces.edges
    moved = replace(own, source=own.source + by, target=own.target + by)
    return without(moved, np.isin(moved.source, met) & (moved.target == moved.source + 1))


def _into(sources: list[int], target: int) -> Edges:
    source = np.array(sources, dtype=np.int64)
    return edges(source, np.full(len(source), target, dtype=np.int64))


def _meeting_edges(met: Meetings, begins: I64, node: I64) -> list[Edges]:
    arrival = met.arrival_ns()
    found: list[Edges] = []
    for rank in range(begins.shape[1]):
        wire = met.end_ns[:, rank] - arrival
        found.append(edges(begins[:, rank], node))
        found.append(edges(node, begins[:, rank] + 1, (device_cause(KernelKind.COMMUNICATION), wire)))
    return found


def _lanes(pieces: Pieces, by: int, met: Meetings, rank: int) -> list[Lane]:
    """Lanes of a rank, in which a collective takes as long as its time on the wire."""
    duration = pieces.work.end_ns - pieces.work.start_ns
    duration[met.place[:, rank]] = met.end_ns[:, rank] - met.arrival_ns()
    place = {int(node): i for i, node in enumerate(pieces.work_start)}
    lanes: list[Lane] = []
    for lane in pieces.lanes:
        rows = np.array([place[int(node)] for node in lane.start_node], dtype=np.int64)
        lanes.append(Lane(lane.start_node + by, lane.cause, duration[rows]))
    return lanes
