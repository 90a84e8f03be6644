"""A predicted step time with its range, turned into a speed-up that never exceeds the bound of the finding."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.report import Prediction


@dataclass(frozen=True)
class StepEstimate:
    """Predicted seconds of a step: at best, likely, at worst; ``best_s <= likely_s <= worst_s``."""

    best_s: float
    likely_s: float
    worst_s: float


def speedup(now_s: float, estimate: StepEstimate, *, exposed_s: float) -> Prediction:
    """The speed-up that an estimate means for a step that takes ``now_s``.

    The bound is the step without the ``exposed_s`` seconds that the change can remove at most (Amdahl's law); no number
    passes it. ``now_s`` is above 0.
    """
    bound = now_s / max(now_s - exposed_s, now_s * 1e-3)
    least_s = now_s / bound
    low, mid, high = (
        min(now_s / max(seconds, least_s), bound)
        for seconds in (estimate.worst_s, estimate.likely_s, estimate.best_s)
    )
    return Prediction(low=low, mid=mid, high=high, bound=bound)


def stage_factor(now_s: float, stage_s: float, *, best: float, likely: float, worst: float) -> StepEstimate:
    """The step if a part of ``stage_s`` seconds runs faster by a factor: best, likely and worst case."""
    rest = now_s - stage_s
    return StepEstimate(rest + stage_s / best, rest + stage_s / likely, rest + stage_s / worst)
