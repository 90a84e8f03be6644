"""A prediction from other people's measurements, where no model of this run applies."""

from __future__ import annotations

from statistics import median

from ...catalog import GainKind, Method
from .estimate import StepEstimate, stage_factor

_OF_STEPS = (GainKind.STEP_TIME, GainKind.THROUGHPUT)
MIN_ROWS = 1


def published_gains(method: Method) -> list[float]:
    """Ratios of step time or throughput that were published for a method, failures among them, sorted."""
    return sorted(row.gain for row in method.evidence if row.gain is not None and row.gain_kind in _OF_STEPS)


def estimate_from_evidence(method: Method, now_s: float, stage_s: float) -> StepEstimate | None:
    """The step if the finding's ``stage_s`` seconds run faster as published; None without a published ratio.

    The published range is widened to include "no change", and half of the median's gain (its square root) counts as
    likely: other hardware, other model, and what did not help is seldom published.
    """
    gains = published_gains(method)
    if len(gains) < MIN_ROWS:
        return None
    return stage_factor(
        now_s,
        stage_s,
        best=max(gains[-1], 1.0),
        likely=median(gains) ** 0.5,
        worst=min(gains[0], 1.0),
    )
