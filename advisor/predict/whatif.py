"""What-ifs: a change of a run put to its graph, and what the step would then take.

A change scales times by cause, lets host calls return without waiting, or puts work beside everything else.
The predicted step is the measured one less what the replay loses by the change, and never less than the
bound: the measured step without all of the time that the change touches on the path that the step's length
hangs on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...profiler.timeline.kernels import KINDS, KernelKind
from .graph import CAUSES, F64, I64, Cause, Graph, WaitReason, device_cause
from .replay import critical_edges, replay


@dataclass(frozen=True)
class Change:
    """A change in words of the graph.

    ``factors`` multiplies times by cause; what is not named stays. ``no_waits`` are the reasons for which
    host calls no longer wait. ``beside`` are causes whose work leaves its place in its stream and runs beside
    all else, one after the other by stream; the window ends no earlier than it.
    """

    name: str
    factors: Mapping[int, float] = field(default_factory=dict[int, float])
    no_waits: frozenset[WaitReason] = frozenset()
    beside: frozenset[int] = frozenset()


def data_wait_removed() -> Change:
    """The loader always has the next batch ready."""
    return Change("data wait removed", {int(Cause.DATA): 0.0})


def launch_cost_removed() -> Change:
    """Issuing work costs the host nothing: neither operators' own time nor the launching calls."""
    return Change("launch cost removed", {int(Cause.OPERATOR): 0.0, int(Cause.LAUNCH): 0.0})


def kernels_scaled(kind: KernelKind, factor: float) -> Change:
    """Every kernel of a class takes ``factor`` times as long.

    Raises:
        ValueError: the factor is negative or no finite number.
    """
    if not (np.isfinite(factor) and factor >= 0):
        raise ValueError(f"a kernel's time cannot be multiplied by {factor}: give a factor of 0 or more")
    return Change(f"{kind} kernels × {factor:g}", {device_cause(kind): factor})


def communication_overlapped() -> Change:
    """Collectives run beside computation, as far as their own length allows."""
    return Change("communication overlapped", beside=frozenset({device_cause(KernelKind.COMMUNICATION)}))


def copies_overlapped() -> Change:
    """Copies run beside computation, and copies to the device no longer hold up the host."""
    return Change(
        "copies overlapped",
        no_waits=frozenset({WaitReason.UPLOAD}),
        beside=frozenset({device_cause(KernelKind.COPY)}),
    )


def host_syncs_removed() -> Change:
    """The host never waits for the device in a synchronising call."""
    return Change(
        "host synchronisation removed",
        {int(Cause.BLOCKING_CALL): 0.0},
        no_waits=frozenset({WaitReason.SYNC}),
    )


def standard_changes() -> tuple[Change, ...]:
    """The changes worth asking about for any run."""
    return (
        data_wait_removed(),
        launch_cost_removed(),
        host_syncs_removed(),
        copies_overlapped(),
        communication_overlapped(),
        *(kernels_scaled(kind, 0.5) for kind in KINDS if kind not in _MOVED),
    )


_MOVED = (KernelKind.COMMUNICATION, KernelKind.COPY)


@dataclass(frozen=True)
class PredictedStep:
    """A predicted step beside the measured one, in seconds per step.

    ``bound_step_s`` is the step without all exposed time of what the change touches. ``unexplained_share`` is
    the part of the measured step that the unchanged replay did not reproduce; a prediction is worth less the
    larger it is.
    """

    change: str
    measured_step_s: float
    predicted_step_s: float
    bound_step_s: float
    unexplained_share: float

    @property
    def speedup(self) -> float | None:
        """Measured over predicted step; None where nothing would be left."""
        return self.measured_step_s / self.predicted_step_s if self.predicted_step_s > 0 else None


class Replayer:
    """Answers what-ifs on one graph; the unchanged replay is done once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._weights = graph.weights()
        self._times = replay(graph, self._weights)

    @property
    def unexplained_share(self) -> float:
        """By how much the unchanged replay falls short of the measured window, as a share of it."""
        measured = self.graph.measured_ns
        return 1 - float(self._times[self.graph.completion]) / measured if measured else 0.0

    @property
    def host_unexplained_share(self) -> float:
        """The same for the training thread, from the first step's start to the last one's end."""
        measured = self.graph.measured_host_ns
        return 1 - float(self._times[self.graph.host_end]) / measured if measured else 0.0

    @cached_property
    def _path(self) -> I64:
        """The path that the length of the unchanged replay hangs on."""
        return critical_edges(self.graph, self._weights, self._times)

    def predict(self, change: Change, *, exposed_ns: float | None = None) -> PredictedStep:
        """The step after a change; ``exposed_ns`` is what `exposed_ns` tells of it, where that is known already."""
        graph = self.graph
        saved_ns = float(self._times[graph.completion]) - self._completion_ns(change)
        exposed_ns = self.exposed_ns(change) if exposed_ns is None else exposed_ns
        per_step = 1e-9 / graph.steps
        bound_ns = max(graph.measured_ns - exposed_ns, 0.0)
        return PredictedStep(
            change=change.name,
            measured_step_s=graph.measured_ns * per_step,
            predicted_step_s=max(graph.measured_ns - saved_ns, bound_ns) * per_step,
            bound_step_s=bound_ns * per_step,
            unexplained_share=self.unexplained_share,
        )

    def _completion_ns(self, change: Change) -> float:
        times = replay(self.graph, self._changed(change, factors(change)))
        return max(float(times[self.graph.completion]), self._beside_ns(change, times))

    def _changed(self, change: Change, scale: F64) -> F64:
        return np.where(self._dropped(change), -np.inf, self.graph.weights(scale))

    def _dropped(self, change: Change) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.isin(self.graph.reason, [int(reason) for reason in change.no_waits])

    def _beside_ns(self, change: Change, times: F64) -> float:
        """When the work that runs beside all else is done: no later than if it had kept its place."""
        done = 0.0
        for lane in self.graph.lanes:
            moved = np.isin(lane.cause, list(change.beside))
            done = max(done, _queued(times[lane.start_node[moved]], lane.duration_ns[moved]))
        return min(done, float(self._times[self.graph.completion]))

    def exposed_ns(self, change: Change) -> float:
        """How much of the window hangs on what a change touches.

        Waits that the change drops are first put on the host thread as its own time, so that the path goes on
        to what stays; all touched time on the longest path is then exposed. That path still exists after the
        change, so no replay of the changed graph is shorter than it.
        """
        graph = self.graph
        blocked = np.isin(graph.blocked_reason, [int(reason) for reason in change.no_waits])
        held = np.where(blocked, graph.blocked_ns, 0)
        before = np.where(self._dropped(change), -np.inf, self._weights + held)
        path = critical_edges(graph, before, replay(graph, before)) if change.no_waits else self._path
        after = graph.weights(np.minimum(factors(change), np.where(_named(change), 0.0, 1.0)))
        return float((before[path] - after[path]).sum())


def factors(change: Change) -> F64:
    """The factor of every cause under a change. Shape (`CAUSES`,)."""
    scale = np.ones(CAUSES, dtype=np.float64)
    for cause, factor in change.factors.items():
        scale[cause] = factor
    scale[list(change.beside)] = 0.0
    return scale


def _named(change: Change) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.isin(np.arange(CAUSES), [*change.factors, *change.beside])


def _queued(ready_ns: F64, duration_ns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """When work is done that becomes ready at these times and runs one after the other."""
    if not len(ready_ns):
        return 0.0
    remaining = np.cumsum(duration_ns[::-1])[::-1]
    return float((ready_ns + remaining).max())
