"""Whether a training process's memory grows from step to step, and how far from its limit it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..facts import text, whole
from ..recording import RankRecording
from .evaluation import evaluation_intervals
from .steps import Steps

MIN_READINGS = 6


@dataclass(frozen=True)
class ProcessMemory:
    """Memory of the training process.

    Attributes:
        peak_bytes: the highest reading.
        lowest_bytes: the lowest one, which is in use whatever a step makes; None where it was not told apart.
        kept_graphs_share: share of the graphs of recent losses that lived on after their backward; None where none was
            watched.
        growth_bytes_per_step: the slope over the timed steps, by the median of slopes between readings (Theil-Sen);
            None where too few readings fell into them.
        rising_share: share of the span between first and last reading in which memory stood higher than ever before:
            1 for a steady rise, small for a jump and a plateau.
        limit_bytes: what the process may use; None where it is not known.
        steps: the timed steps that readings span.
        peak_in_evaluation: the highest reading was taken within an evaluation pass.
        uncollected_per_step: objects per step that Python's collector has not looked at, as they pile up while it is
            off; None where they were not counted.
    """

    peak_bytes: int
    growth_bytes_per_step: float | None
    rising_share: float
    limit_bytes: int | None
    steps: float
    peak_in_evaluation: bool = False
    uncollected_per_step: float | None = None
    lowest_bytes: int | None = None
    kept_graphs_share: float | None = None

    @property
    def limit_share(self) -> float | None:
        """Peak against the limit, 0 to 1."""
        return None if not self.limit_bytes else self.peak_bytes / self.limit_bytes

    @property
    def steps_left(self) -> float | None:
        """Steps until the limit is reached at this growth; None without growth or limit."""
        if self.limit_bytes is None or self.growth_bytes_per_step is None or self.growth_bytes_per_step <= 0:
            return None
        return max(self.limit_bytes - self.peak_bytes, 0) / self.growth_bytes_per_step


def process_memory(recording: RankRecording, steps: Steps) -> ProcessMemory | None:
    """The readings laid over the steps; None where there are none."""
    limit, counted = whole(recording.process, "memory_limit_bytes"), text(recording.process, "memory_counted")
    key = counted or "resident_bytes"
    readings = [
        (moment, used)
        for fact in recording.facts.get("memory", [])
        if (moment := whole(fact, "t")) is not None and (used := whole(fact, key)) is not None
    ]
    return over_steps(recording, readings, steps, limit_bytes=limit)


def over_steps(
    recording: RankRecording, readings: list[tuple[int, int]], steps: Steps, *, limit_bytes: int | None
) -> ProcessMemory | None:
    """Readings ``(time_ns, bytes)`` laid over the steps; None where there are none."""
    if not readings:
        return None
    times, used = _columns(readings)
    position = _step_position(times, steps)
    inside = ~np.isnan(position)
    x, y = position[inside], used[inside]
    enough = len(x) >= MIN_READINGS
    return ProcessMemory(
        peak_bytes=int(used.max()),
        growth_bytes_per_step=_slope(x, y) if enough else None,
        rising_share=_rising_share(y) if enough else 0.0,
        limit_bytes=limit_bytes,
        steps=float(x[-1] - x[0]) if enough else 0.0,
        peak_in_evaluation=_in_evaluation(recording, int(times[used.argmax()])),
        uncollected_per_step=_uncollected_per_step(recording, steps),
        lowest_bytes=int(used.min()),
        kept_graphs_share=_kept_graphs_share(recording, steps),
    )


def _in_evaluation(recording: RankRecording, moment_ns: int) -> bool:
    start, end = evaluation_intervals(recording)
    return bool(((start <= moment_ns) & (moment_ns < end)).any())


def _kept_graphs_share(recording: RankRecording, steps: Steps) -> float | None:
    """As it was read last before the script came to its end, when it lets go of everything."""
    end_ns = int(steps.end_ns[-1]) if len(steps) else 0
    readings = [
        (kept, watched)
        for fact in recording.facts.get("memory", [])
        if (watched := whole(fact, "graphs_watched"))
        and (kept := whole(fact, "graphs_kept")) is not None
        and (whole(fact, "t") or 0) < end_ns
    ]
    return min(max(readings[-1][0] / readings[-1][1], 0.0), 1.0) if readings else None


def _uncollected_per_step(recording: RankRecording, steps: Steps) -> float | None:
    readings = [
        (moment, objects)
        for fact in recording.facts.get("memory", [])
        if (moment := whole(fact, "t")) is not None and (objects := whole(fact, "uncollected")) is not None
    ]
    if not readings:
        return None
    times, objects = _columns(readings)
    position = _step_position(times, steps)
    inside = ~np.isnan(position)
    return _slope(position[inside], objects[inside]) if inside.sum() >= MIN_READINGS else None


def _columns(readings: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return (
        np.array([moment for moment, _ in readings], dtype=np.int64),
        np.array([used for _, used in readings], dtype=np.float64),
    )


def _step_position(times_ns: NDArray[np.int64], steps: Steps) -> NDArray[np.float64]:
    """Where between the steps each moment lies, counted in steps; NaN outside the timed ones."""
    if not len(steps):
        return np.full(len(times_ns), np.nan)
    step = np.searchsorted(steps.start_ns, times_ns, side="right") - 1
    at = np.clip(step, 0, None)
    length = np.maximum(steps.end_ns[at] - steps.start_ns[at], 1)
    inside = (step >= 0) & (times_ns < steps.end_ns[at]) & steps.timed[at]
    return np.where(inside, step + (times_ns - steps.start_ns[at]) / length, np.nan)


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    first, second = np.triu_indices(len(x), k=1)
    run = x[second] - x[first]
    apart = run > 0
    return float(np.median((y[second] - y[first])[apart] / run[apart])) if apart.any() else 0.0


def _rising_share(y: NDArray[np.float64]) -> float:
    highest = np.maximum.accumulate(y)
    return float(np.mean(np.diff(highest) > 0))
