"""What interrupts the stages: pauses of the garbage collector, and compilation. Their time is taken off the stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..facts import whole
from ..recording import Frame, RankRecording, frames_of
from ..vocabulary import Stage
from .frames import name_stack
from .intervals import contains, union
from .stages import STAGES, StageTimes
from .steps import Steps

MAX_PLACES = 3


@dataclass(frozen=True)
class Interruptions:
    """Interruptions of one sort within the timed steps.

    Attributes:
        seconds: per step, by the stage that they fell into.
        per_step: how many there are per step.
        places: where they arose, those that took longest first; with the seconds per step of each.
    """

    seconds: Mapping[Stage, float] = field(default_factory=dict[Stage, float])
    per_step: float = 0.0
    places: tuple[tuple[Frame, float], ...] = ()

    @property
    def total_s(self) -> float:
        """Seconds per step together."""
        return sum(self.seconds.values())


def garbage_pauses(recording: RankRecording, steps: Steps, stages: StageTimes) -> Interruptions:
    """The pauses of Python's garbage collector outside compilations, which collect much themselves."""
    spans = steps.within(recording.of_code(layout.GARBAGE))
    compiling = recording.of_code(layout.COMPILATION)
    spans = spans[~contains(union(compiling[:, 1], compiling[:, 2]), spans[:, 1])]
    found = _interruptions(spans, steps, stages)
    return Interruptions(found.seconds, found.per_step, _garbage_places(recording, spans, steps))


def compilations(recording: RankRecording, steps: Steps, stages: StageTimes) -> Interruptions:
    """TorchDynamo at work within the timed steps."""
    return _interruptions(steps.within(recording.of_code(layout.COMPILATION)), steps, stages)


def recomputation_s(recording: RankRecording, steps: Steps) -> float:
    """Seconds per timed step in which checkpointed parts of the model are computed again; no stage loses them."""
    spans = steps.within(recording.of_code(layout.RECOMPUTATION))
    return float((spans[:, 2] - spans[:, 1]).sum()) / 1e9 / max(int(steps.timed.sum()), 1)


def _interruptions(spans: NDArray[np.int64], steps: Steps, stages: StageTimes) -> Interruptions:
    n = max(int(steps.timed.sum()), 1)
    labels = stages.segments.label_at(spans[:, 1])
    seconds: Counter[Stage] = Counter()
    for label, length in zip(labels.tolist(), (spans[:, 2] - spans[:, 1]).tolist(), strict=True):
        if label >= 0:
            seconds[STAGES[label]] += length / 1e9 / n
    return Interruptions(dict(seconds), len(spans) / n)


def _garbage_places(
    recording: RankRecording, spans: NDArray[np.int64], steps: Steps
) -> tuple[tuple[Frame, float], ...]:
    n = max(int(steps.timed.sum()), 1)
    frames = {
        whole(fact, "number"): name_stack(frames_of(fact.get("frames")), recording.process)
        for fact in recording.facts.get("garbage_place", [])
    }
    seconds: Counter[Frame] = Counter()
    for number, length in zip(
        (spans[:, 3] // layout.PLACE_UNIT).tolist(), (spans[:, 2] - spans[:, 1]).tolist(), strict=True
    ):
        named = frames.get(number)
        if named is not None and named[1]:
            seconds[named[0]] += length / 1e9 / n
    return tuple(seconds.most_common(MAX_PLACES))
