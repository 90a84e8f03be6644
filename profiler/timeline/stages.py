"""Exclusive stages of the training thread: every instant of every step once; they sum to the step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..recording import RankRecording
from ..report import StageShare
from ..vocabulary import Stage
from .evaluation import evaluation_intervals
from .intervals import contains, union
from .partition import Segments, paint
from .steps import Steps

STAGES = tuple(Stage)
#: Quantiles over the steps: what the quickest take, and what a step takes that little disturbs.
QUICK, UNDISTURBED = 0.1, 0.25
_NUMBER = {stage: number for number, stage in enumerate(STAGES)}
_OF_CODE = {
    layout.DATA_WAIT: Stage.DATA_WAIT,
    layout.LOADER_START: Stage.DATA_WAIT,
    layout.LOADER_END: Stage.DATA_WAIT,
    layout.FORWARD: Stage.FORWARD,
    layout.BACKWARD: Stage.BACKWARD,
    layout.OPTIMIZER: Stage.OPTIMIZER,
    layout.ZERO_GRAD: Stage.OPTIMIZER,
    layout.COMMUNICATION: Stage.COMMUNICATION,
    layout.COMMUNICATION_WAIT: Stage.COMMUNICATION,
    layout.CHECKPOINT: Stage.CHECKPOINT,
    layout.H2D: Stage.H2D,
}


@dataclass(frozen=True, eq=False)
class StageTimes:
    """Seconds of each stage in each step.

    Attributes:
        segments: the partition of the thread's time; labels are positions in `STAGES`.
        seconds: shape (steps, stages), rows sum to the steps' durations.
    """

    segments: Segments
    seconds: NDArray[np.float64]

    @classmethod
    def empty(cls) -> StageTimes:
        """Of a run without steps."""
        return cls(Segments(np.empty(0, np.int64), np.empty(0, np.int64)), np.empty((0, len(STAGES))))

    def per_step(self, chosen: NDArray[np.bool_]) -> dict[Stage, float]:
        """Mean seconds of each stage over the chosen steps; empty where none is chosen."""
        if not chosen.any():
            return {}
        return dict(zip(STAGES, self.seconds[chosen].mean(axis=0).tolist(), strict=True))

    def relabelled(self, pieces: NDArray[np.bool_], stage: Stage, steps: Steps) -> StageTimes:
        """The same with these pieces of the partition given to a stage."""
        labels = np.where(pieces, _NUMBER[stage], self.segments.labels)
        segments = Segments(self.segments.bounds_ns, labels)
        return StageTimes(segments, _sum_by_step(segments, steps))

    def shares(self, chosen: NDArray[np.bool_]) -> list[StageShare]:
        """The stages that took any time over the chosen steps, in the order of `Stage`; shares sum to 1."""
        per_step = self.per_step(chosen)
        total = sum(per_step.values())
        return [
            self._share(stage, seconds, total, chosen) for stage, seconds in per_step.items() if seconds > 0
        ]

    def _share(self, stage: Stage, seconds: float, total_s: float, chosen: NDArray[np.bool_]) -> StageShare:
        rest = self.seconds[chosen].sum(axis=1) - self.seconds[chosen, _NUMBER[stage]]
        quick, undisturbed = np.quantile(rest.clip(min=0), (QUICK, UNDISTURBED)).tolist()
        return StageShare(
            name=stage,
            seconds_per_step=seconds,
            share=seconds / total_s,
            rest_undisturbed_s=undisturbed,
            rest_quick_s=quick,
        )


def stage_times(recording: RankRecording, steps: Steps) -> StageTimes:
    """Lay the spans of a rank out over its steps."""
    if not len(steps):
        return StageTimes.empty()
    spans = np.concatenate([recording.of_code(*_OF_CODE), gradient_waits(recording)])
    labels = np.array([_NUMBER[_OF_CODE[int(code)]] for code in spans[:, 0]], dtype=np.int64)
    cuts = np.unique(np.concatenate([steps.start_ns, steps.end_ns]))
    segments = paint(spans[:, 1], spans[:, 2], labels, cuts_ns=cuts, ground=_NUMBER[Stage.HOST])
    evaluated = contains(union(*evaluation_intervals(recording)), segments.bounds_ns[:-1])
    segments = Segments(segments.bounds_ns, np.where(evaluated, _NUMBER[Stage.EVALUATION], segments.labels))
    return StageTimes(segments, _sum_by_step(segments, steps))


def gradient_waits(recording: RankRecording) -> NDArray[np.int64]:
    """Communication spans from the moment a rank's own gradients were ready to the end of that backward."""
    ready = recording.of_code(layout.GRADIENTS_READY)
    backward = recording.of_code(layout.BACKWARD)
    ready = ready[ready[:, 3] == 1]
    if not len(ready) or not len(backward):
        return np.empty((0, layout.SPAN_WORDS), np.int64)
    index = np.searchsorted(backward[:, 1], ready[:, 1], side="right") - 1
    inside = (index >= 0) & (ready[:, 1] <= backward[np.clip(index, 0, None), 2])
    waits = ready[inside].copy()
    waits[:, 0] = layout.COMMUNICATION
    waits[:, 2] = backward[index[inside], 2]
    return waits


def _sum_by_step(segments: Segments, steps: Steps) -> NDArray[np.float64]:
    piece_start = segments.bounds_ns[:-1]
    step = np.searchsorted(steps.start_ns, piece_start, side="right") - 1
    inside = (step >= 0) & (piece_start < steps.end_ns[np.clip(step, 0, None)])
    cell = step[inside] * len(STAGES) + segments.labels[inside]
    total = np.bincount(cell, weights=segments.durations_ns[inside] / 1e9, minlength=len(steps) * len(STAGES))
    return total.astype(np.float64).reshape(len(steps), len(STAGES))
