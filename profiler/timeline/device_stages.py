"""The stages of a step by the clock of the GPU: what it worked for, and on which part of the loop it had to wait.

The host runs ahead of a GPU and then waits for it, so its own clock puts the time of a whole step into whichever line
happens to wait. Here every instant of a step counts once: to the stage whose work the device had in hand; to what the
host was doing, where the device had to wait for it; or to work that was handed over between the stages, such as a loss.
Work handed over between a fetch and the next stage is the copy of the batch, where batches come from the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..facts import whole
from ..recording import RankRecording
from ..report import DeviceStageInfo, StageShare
from ..vocabulary import Stage
from .intervals import Intervals, contains, empty, union
from .partition import Ints, Segments, paint
from .stages import STAGES, StageTimes
from .steps import Steps

#: Two quartz clocks run no further apart than this; more is a device that falls behind.
MAX_DRIFT = 2e-4
#: Of so many stages in a row, the one that tells most of the clocks is looked at.
GROUP = 64
_NONE = -1
_BETWEEN = len(STAGES)
_FORWARD = STAGES.index(Stage.FORWARD)
_H2D = STAGES.index(Stage.H2D)


@dataclass(frozen=True, eq=False)
class DeviceStages:
    """A rank's steps by its device's clock.

    Attributes:
        exposed: ``segments`` has the host's stages while the device waited for it, -1 at all other times; ``seconds``
            is every instant of the measured steps, work between the stages counted as forward.
        between_s: seconds of work handed over between the stages, shape (steps,).
        waits_s: seconds in which the device waited for the host, shape (steps,).
        measured: the steps whose beginning and end are known on the device.
        lead_s: how far the device was behind the host at the end of a stage, in the median.
    """

    exposed: StageTimes
    between_s: NDArray[np.float64]
    waits_s: NDArray[np.float64]
    measured: NDArray[np.bool_]
    lead_s: float

    def steps(self, steps: Steps) -> Steps:
        """The same steps, of which only measured ones count as timed."""
        return replace(steps, warmup=steps.warmup | ~self.measured)

    def info(self, steps: Steps) -> DeviceStageInfo | None:
        """What the report tells; None where no timed step was measured."""
        chosen = self.measured & steps.timed
        per_step = self.exposed.per_step(chosen)
        if not per_step:
            return None
        between_s = float(self.between_s[chosen].mean())
        total = sum(per_step.values())
        per_step[Stage.FORWARD] = max(per_step[Stage.FORWARD] - between_s, 0.0)
        return DeviceStageInfo(
            steps=int(chosen.sum()),
            stages=[
                StageShare(name=stage, seconds_per_step=seconds, share=seconds / total)
                for stage, seconds in per_step.items()
                if seconds > 0
            ],
            between_s=between_s,
            between_share=between_s / total,
            waits_s=float(self.waits_s[chosen].mean()),
            lead_s=self.lead_s,
        )


@dataclass(frozen=True)
class _Records:
    """Stages, and ends of fetches, in the order of their start, all times on the host's clock. Shapes (n,)."""

    is_fetch: NDArray[np.bool_]
    host_start: Ints
    host_end: Ints
    start: Ints
    end: Ints


def device_stages(recording: RankRecording, steps: Steps, stages: StageTimes) -> DeviceStages | None:
    """Lay the device's times over the steps; ``stages`` are the host's. None where too little was timed there.

    Before a stage begins, the device may have waited up to the moment at which the host put its event into the stream,
    and has not waited after it.
    """
    if not len(steps) or not (recording.device[:, 0] != layout.DATA_WAIT).any():
        return None
    records = _aligned(recording.device)
    first, last, measured = _bounds(records, steps)
    if not measured.any():
        return None
    own = _painted(records, stages, np.unique(np.concatenate([first[measured], last[measured]])))
    pieces = _Pieces.of(
        own, _waiting(records), _copying(recording, records), stages.segments, first[measured], last[measured]
    )
    places = np.flatnonzero(measured)
    seconds = _sums(pieces, places, len(steps))
    between_s = seconds[:, _BETWEEN].copy()
    seconds[:, _FORWARD] += between_s
    return DeviceStages(
        exposed=StageTimes(pieces.exposed(), seconds[:, :_BETWEEN]),
        between_s=between_s,
        waits_s=_sums(pieces.only(pieces.waits), places, len(steps)).sum(axis=1),
        measured=measured,
        lead_s=_lead_s(records),
    )


def _lead_s(records: _Records) -> float:
    behind = (records.end - records.host_end)[~records.is_fetch]
    return max(float(np.median(behind)) / 1e9, 0.0) if len(behind) else 0.0


def _aligned(device: Ints) -> _Records:
    """The two clocks put in line.

    A device cannot come to an event before the host has put it into the stream, and comes to it at once where it has
    nothing else to do. So the host's clock over the device's is the lowest straight line that no event lies above, as
    clocks of a network are compared by their shortest delays (Moon, Skelly, Towsley 1999).
    """
    rows = device[np.argsort(device[:, 1], kind="stable")]
    behind = np.maximum(rows[:, 1] - rows[:, 3], rows[:, 2] - rows[:, 4])
    origin = int(rows[0, 3])
    run = (rows[:, 3] - origin).astype(np.float64)
    drift = _drift(run, behind - behind[0])

    def on_host(moments: Ints) -> Ints:
        return moments + np.round(drift * (moments - origin)).astype(np.int64)

    offset = int(np.maximum(rows[:, 1] - on_host(rows[:, 3]), rows[:, 2] - on_host(rows[:, 4])).max())
    return _Records(
        is_fetch=rows[:, 0] == layout.DATA_WAIT,
        host_start=rows[:, 1],
        host_end=rows[:, 2],
        start=on_host(rows[:, 3]) + offset,
        end=on_host(rows[:, 4]) + offset,
    )


def _drift(run: NDArray[np.float64], behind: Ints) -> float:
    """The slope of the lowest line above all points, which touches them on both sides of their middle."""
    groups = [part[np.argmax(behind[part])] for part in _groups(len(run))]
    middle = float(run[groups].mean())
    hull = _upper_hull([(float(run[place]), float(behind[place])) for place in groups])
    for (x1, y1), (x2, y2) in pairwise(hull):
        if x1 <= middle <= x2:
            return float(np.clip((y2 - y1) / (x2 - x1), -MAX_DRIFT, MAX_DRIFT))
    return 0.0


def _groups(n: int) -> list[NDArray[np.intp]]:
    return np.array_split(np.arange(n), -(-n // GROUP))


def _upper_hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that a string lies on that is drawn tight over all of them, from left to right."""
    hull: list[tuple[float, float]] = []
    for x, y in sorted(dict(sorted(points)).items()):
        while len(hull) > 1:
            (x1, y1), (x2, y2) = hull[-2:]
            if (x2 - x1) * (y - y1) < (y2 - y1) * (x - x1):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _bounds(records: _Records, steps: Steps) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """When the device came to the beginning and the end of each step, and for which steps that is known.

    It comes to a moment of the host once it is done with the last stage that the host was done with by then; that has
    to be a stage of the step that ends there.
    """
    stage = np.flatnonzero(~records.is_fetch)
    order = stage[np.argsort(records.host_end[stage], kind="stable")]
    ends, done = records.host_end[order], np.maximum.accumulate(records.end[order])

    def at(moments: Ints, not_before: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        index = np.searchsorted(ends, moments, side="right") - 1
        index, known = np.clip(index, 0, None), index >= 0
        return done[index], known & (ends[index] > not_before)

    earlier = np.concatenate([steps.start_ns[:1], steps.start_ns[:-1]])
    first, begins = at(steps.start_ns, earlier)
    last, finishes = at(steps.end_ns, steps.start_ns)
    return first, last, begins & finishes & (last > first)


def _painted(records: _Records, stages: StageTimes, cuts: Ints) -> Segments:
    """The stages on the device, by what the host's clock calls them."""
    labels = stages.segments.label_at(records.host_start)
    return paint(records.start, records.end, labels, cuts_ns=cuts, ground=_NONE)


def _waiting(records: _Records) -> Intervals:
    """Before each stage, from the end of the one before it to the moment the host came to it."""
    done = np.maximum.accumulate(records.end)[:-1]
    return union(done, np.minimum(records.start, records.host_start)[1:])


def _copying(recording: RankRecording, records: _Records) -> Intervals:
    """What the device works off before a stage that follows a fetch, once the host has come to that stage."""
    if not any(whole(fact, "bytes") for fact in recording.facts.get("batch", [])):
        return empty()
    follows = records.is_fetch[:-1] & ~records.is_fetch[1:]
    done = np.maximum.accumulate(records.end)[:-1]
    return union(np.maximum(done, records.host_start[1:])[follows], records.start[1:][follows])


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of time with one label each, shapes (n + 1,) and (n,); ``step`` counts measured steps, -1 for none."""

    bounds: Ints
    label: Ints
    waits: NDArray[np.bool_]
    step: Ints

    @classmethod
    def of(
        cls, own: Segments, waiting: Intervals, copying: Intervals, host: Segments, first: Ints, last: Ints
    ) -> _Pieces:
        low, high = own.bounds_ns[0], own.bounds_ns[-1]
        others = np.concatenate([waiting.start, waiting.end, copying.start, copying.end, host.bounds_ns])
        bounds = np.unique(np.concatenate([own.bounds_ns, others[(others > low) & (others < high)]]))
        at = bounds[:-1]
        stage = own.label_at(at)
        waits = (stage == _NONE) & contains(waiting, at)
        step = np.searchsorted(first, at, side="right") - 1
        step = np.where((step >= 0) & (at < last[np.clip(step, 0, None)]), step, _NONE)
        work = np.where(contains(copying, at), _H2D, _BETWEEN)
        label = np.where(stage != _NONE, stage, np.where(waits, host.label_at(at), work))
        return cls(bounds, label, waits & (step != _NONE), step)

    def only(self, chosen: NDArray[np.bool_]) -> _Pieces:
        """The same with all other pieces in no step."""
        return replace(self, step=np.where(chosen, self.step, _NONE))

    def exposed(self) -> Segments:
        """The host's stage while the device waited for it, -1 at other times."""
        return Segments(self.bounds, np.where(self.waits, self.label, _NONE))


def _sums(pieces: _Pieces, measured: NDArray[np.intp], steps: int) -> NDArray[np.float64]:
    """Seconds by step and label, shape (steps, stages + 1)."""
    width = len(STAGES) + 1
    inside = (pieces.step != _NONE) & (pieces.label != _NONE)
    cell = measured[pieces.step[inside]] * width + pieces.label[inside]
    length_s = np.diff(pieces.bounds)[inside] / 1e9
    total = np.bincount(cell, weights=length_s, minlength=steps * width)
    return total.astype(np.float64).reshape(steps, width)
