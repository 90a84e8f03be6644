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


@dataclass(frozen=True)
class Relief:
    """Seconds by which the rest of a step gets shorter once its bottleneck is gone, because both share the cores.

    Attributes:
        likely_s: down to what it takes in steps that little disturbs.
        best_s: down to its quickest steps.
    """

    likely_s: float = 0.0
    best_s: float = 0.0


NO_RELIEF = Relief()


def speedup(
    now_s: float, estimate: StepEstimate, *, exposed_s: float, relief: Relief = NO_RELIEF
) -> Prediction:
    """The speed-up that an estimate means for a step that takes ``now_s``.

    The bound is the step without the ``exposed_s`` seconds that the change can remove at most (Amdahl's law) and with
    the best relief of the rest; no number passes it. The rest is relieved in proportion to what the change removes.
    ``now_s`` is above 0.
    """
    least_s = max(now_s - exposed_s - relief.best_s, now_s * 1e-3)
    bound = now_s / least_s

    def ratio(seconds: float, relief_s: float) -> float:
        removed = min(max((now_s - seconds) / exposed_s, 0.0), 1.0) if exposed_s > 0 else 0.0
        return min(now_s / max(seconds - removed * relief_s, least_s), bound)

    low, mid, high = (
        ratio(estimate.worst_s, 0.0),
        ratio(estimate.likely_s, relief.likely_s),
        ratio(estimate.best_s, relief.best_s),
    )
    return Prediction(low=low, mid=mid, high=high, bound=bound)


def stage_factor(now_s: float, stage_s: float, *, best: float, likely: float, worst: float) -> StepEstimate:
    """The step if a part of ``stage_s`` seconds runs faster by a factor: best, likely and worst case."""
    rest = now_s - stage_s
    return StepEstimate(rest + stage_s / best, rest + stage_s / likely, rest + stage_s / worst)
