"""The dependency graph of a recorded window: instants, and what each has to wait for.

A node is an instant of a host thread or the start or end of device work; an edge says that its target lies at
least its weight behind its source. A weight is made of parts, each a time with a cause, so that a what-if
changes causes and never edges one by one. Holds no rule of how a trace becomes a graph (see `building`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...profiler.timeline.kernels import KINDS, KernelKind

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

TIE_ROUNDS = 64
"""How deep chains of instants with one and the same stamp are put in order; deeper edges are left out."""


class Cause(IntEnum):
    """What a part of a weight is spent on; device work follows as ``DEVICE_WORK + place in KINDS``."""

    HOST = 0
    """the host outside operators and runtime calls: Python, waiting for another thread to take over"""
    OPERATOR = 1
    """the framework between its launching calls"""
    LAUNCH = 2
    """calls of the runtime or driver that do not block"""
    DATA = 3
    """the training thread inside its loader"""
    BLOCKING_CALL = 4
    """what a blocking call costs by itself, without its waiting"""
    LATENCY = 5
    """from a launching call to the earliest start of its work"""
    DISPATCH = 6
    """between two pieces of work that the device had ready"""
    WAKE = 7
    """from the end of device work to the return of the call that waited for it"""
    UNKNOWN = 8
    """time that the trace does not explain and the graph keeps as it was"""
    DEVICE_WORK = 9


CAUSES = int(Cause.DEVICE_WORK) + len(KINDS)


def device_cause(kind: KernelKind) -> int:
    """The cause number of device work of this class."""
    return int(Cause.DEVICE_WORK) + KINDS.index(kind)


class WaitReason(IntEnum):
    """Why a host call blocks until the device has caught up."""

    NONE = 0
    SYNC = 1
    """a synchronisation, or a copy to the host whose result is wanted"""
    UPLOAD = 2
    """a copy to the device from memory that is not pinned"""
    QUEUE = 3
    """a launch while the device's queue is full"""


@dataclass(frozen=True)
class Parts:
    """Times that edges are made of. Shapes (parts,): edge number, cause, nanoseconds."""

    edge: I64
    cause: I64
    ns: I64


@dataclass(frozen=True)
class Lane:
    """Device work of one stream in order, for asking how long it would take beside everything else.

    Shapes (rows,): node of the start, cause, and nanoseconds by which it prolongs the lane.
    """

    start_node: I64
    cause: I64
    duration_ns: I64


@dataclass(frozen=True)
class Graph:
    """A window of a trace as a graph without cycles; node 0 is the window's start.

    ``time_ns`` (nodes,) are the measured instants since the window's start. ``source`` and ``target``
    (edges,) are sorted by the target's place in ``order``, the topological order of nodes; the edges into
    ``order[i]`` are ``first[i]:first[i + 1]``. ``reason`` (edges,) is the `WaitReason` of edges from the
    device to a blocking call, and ``blocked_ns`` (edges,) on such a call's own edge the time by which its
    measured length exceeds its own cost, with that call's reason in ``blocked_reason``. ``host_end`` is the
    end of the last step on the training thread, ``completion`` the end of everything begun in the window.
    """

    time_ns: I64
    order: I64
    first: I64
    source: I64
    target: I64
    reason: I64
    blocked_ns: I64
    blocked_reason: I64
    parts: Parts
    lanes: tuple[Lane, ...]
    host_end: int
    completion: int
    steps: int
    notes: tuple[str, ...] = ()

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """Source and target of every edge as Python numbers, for going through them one by one."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))

    @property
    def measured_ns(self) -> int:
        """Measured time from the window's start until everything begun in it is done."""
        return int(self.time_ns[self.completion])

    @property
    def measured_host_ns(self) -> int:
        """Measured length of the window on the training thread."""
        return int(self.time_ns[self.host_end])

    def weights(self, factors: F64 | None = None) -> F64:
        """Weights of all edges in nanoseconds, shape (edges,), each cause times its factor (`CAUSES`,)."""
        ns = self.parts.ns if factors is None else self.parts.ns * factors[self.parts.cause]
        return np.bincount(self.parts.edge, weights=ns, minlength=len(self.source)).astype(np.float64)


@dataclass(frozen=True)
class Edges:
    """Edges as they are found, before they are put in order. All shapes (edges,), parts as in `Parts`."""

    source: I64
    target: I64
    reason: I64
    blocked_ns: I64
    blocked_reason: I64
    parts: Parts


def edges(source: I64, target: I64, *parts: tuple[int | I64, I64], reason: int | I64 = 0) -> Edges:
    """Edges whose weights are sums of parts, each a cause (or one per edge) and nanoseconds per edge."""
    count = len(source)
    own = np.arange(count, dtype=np.int64)
    kept = [(own[ns != 0], _each(cause, count)[ns != 0], ns[ns != 0]) for cause, ns in parts]
    edge, cause, ns = (np.concatenate([part[i] for part in kept] or [own[:0]]) for i in range(3))
    none = np.zeros(count, dtype=np.int64)
    return Edges(source, target, _each(reason, count), none, none, Parts(edge, cause, ns.astype(np.int64)))


def _each(value: int | I64, count: int) -> I64:
    return np.broadcast_to(np.asarray(value, dtype=np.int64), (count,)).copy()


def joined(groups: list[Edges]) -> Edges:
    """All edges in one table."""
    before = np.cumsum([0, *(len(group.source) for group in groups)])
    return Edges(
        source=np.concatenate([group.source for group in groups]),
        target=np.concatenate([group.target for group in groups]),
        reason=np.concatenate([group.reason for group in groups]),
        blocked_ns=np.concatenate([group.blocked_ns for group in groups]),
        blocked_reason=np.concatenate([group.blocked_reason for group in groups]),
        parts=Parts(
            edge=np.concatenate([g.parts.edge + shift for g, shift in zip(groups, before, strict=False)]),
            cause=np.concatenate([group.parts.cause for group in groups]),
            ns=np.concatenate([group.parts.ns for group in groups]),
        ),
    )


def without(found: Edges, dropped: Mask) -> Edges:
    """The edges that are not ``dropped``. Shape (edges,)."""
    return _picked(found, np.flatnonzero(~dropped))


def _picked(found: Edges, rows: npt.NDArray[np.intp]) -> Edges:
    return Edges(
        source=found.source[rows],
        target=found.target[rows],
        reason=found.reason[rows],
        blocked_ns=found.blocked_ns[rows],
        blocked_reason=found.blocked_reason[rows],
        parts=_renumbered(found.parts, rows, len(found.source)),
    )


def assemble(
    time_ns: I64,
    found: Edges,
    *,
    lanes: tuple[Lane, ...],
    host_end: int,
    completion: int,
    steps: int,
    notes: tuple[str, ...] = (),
) -> Graph:
    """Put nodes and edges in topological order.

    The measured times are that order, since nothing waits for what came later; instants with the same stamp
    are put in the order of the edges between them. An edge against the order (a clock that jumped) is left
    out.
    """
    place = _places(time_ns, found)
    kept = place[found.target] > place[found.source]
    left_out = int(len(kept) - kept.sum())
    if left_out:
        notes = (*notes, f"{left_out} dependencies ran against the clock and were left out")
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(place[found.target[rows]], kind="stable")]
    sorted_edges = _picked(found, rows)
    return Graph(
        time_ns=time_ns,
        order=np.argsort(place),
        first=np.searchsorted(place[sorted_edges.target], np.arange(len(time_ns) + 1)),
        source=sorted_edges.source,
        target=sorted_edges.target,
        reason=sorted_edges.reason,
        blocked_ns=sorted_edges.blocked_ns,
        blocked_reason=sorted_edges.blocked_reason,
        parts=sorted_edges.parts,
        lanes=lanes,
        host_end=host_end,
        completion=completion,
        steps=steps,
        notes=notes,
    )


def _places(time_ns: I64, found: Edges) -> I64:
    """For each node its place in an order of time in which as many edges as possible run forwards."""
    tied = time_ns[found.source] == time_ns[found.target]
    source, target = found.source[tied], found.target[tied]
    level = np.zeros(len(time_ns), dtype=np.int64)
    for _ in range(TIE_ROUNDS):
        raised = level.copy()
        np.maximum.at(raised, target, level[source] + 1)
        if np.array_equal(raised, level):
            break
        level = raised
    place = np.empty(len(time_ns), dtype=np.int64)
    place[np.lexsort((level, time_ns))] = np.arange(len(time_ns))
    return place


def _renumbered(parts: Parts, rows: npt.NDArray[np.intp], count: int) -> Parts:
    number = np.full(count, -1, dtype=np.int64)
    number[rows] = np.arange(len(rows))
    edge = number[parts.edge]
    kept = edge >= 0
    return Parts(edge[kept], parts.cause[kept], parts.ns[kept])
