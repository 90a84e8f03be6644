"""The loop makes its batches by itself between the steps, with no ``DataLoader``: a function of the script's own."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Activity, Kind, Stage
from .finding import ms, percent, place, places, timed_finding
from .thresholds import DOMINANT_PART, MIN_SAMPLES


def seconds_by_hand(observation: Observation) -> float:
    """Seconds per step of the lines that make batches while nothing is trained; 0 where they were hardly seen."""
    lines = observation.lines_doing(Activity.LOADING)
    seconds = sum(line.seconds_per_step for line in lines)
    seen = sum(line.samples for line in lines) >= MIN_SAMPLES
    return seconds if seen or seconds >= DOMINANT_PART * observation.seconds(Stage.HOST) else 0.0


def find(observation: Observation) -> Finding | None:
    """Making batches beside the model, in the lines that do it."""
    lines, seconds = observation.lines_doing(Activity.LOADING), seconds_by_hand(observation)
    return timed_finding(
        observation,
        Kind.DATA_LOADING,
        seconds,
        cause="batches-by-hand",
        summary=(
            f"The training loop makes its batches by itself, with no DataLoader: that takes {ms(seconds)} of every "
            f"step ({percent(seconds / observation.step_s)}){place(lines)}."
        ),
        where=places(lines[:3]),
        evidence=tuple(
            Fact(name=f"{line.file}:{line.line}", value=line.seconds_per_step * 1e3, unit="ms")
            for line in lines[:3]
        ),
    )
