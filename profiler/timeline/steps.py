"""The steps of one rank: which are warm-up, which are timed, which stand out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..recording import RankRecording
from ..report import StepTime

#: A step is an outlier beyond this many robust standard deviations and this multiple of the median.
OUTLIER_DEVIATIONS = 5.0
OUTLIER_RATIO = 1.5
#: Scales the median absolute deviation to a standard deviation of a normal distribution.
MAD_TO_SIGMA = 1.4826
MIN_TIMED_STEPS = 3


@dataclass(frozen=True, eq=False)
class Steps:
    """All steps of a rank, in order; every array has shape (n,).

    Attributes:
        start_ns, end_ns: a step ends where the next one starts.
        fetches: batches fetched in the step (micro-batches, and those of an evaluation inside it).
        traced: the step ran under ``torch.profiler`` and does not count for timing.
        warmup: the step is left out of the timing as warm-up.
    """

    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    fetches: NDArray[np.int64]
    traced: NDArray[np.bool_]
    warmup: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def timed(self) -> NDArray[np.bool_]:
        """The steps that give the timing."""
        return ~self.traced & ~self.warmup

    @property
    def timed_s(self) -> float:
        """Wall seconds of the timed steps together; 0 where none was timed."""
        return float(self.duration_s[self.timed].sum())

    @property
    def duration_s(self) -> NDArray[np.float64]:
        """Wall time of each step."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def outlier(self) -> NDArray[np.bool_]:
        """Timed steps that took far longer than the median one."""
        return outliers(self.duration_s, self.timed)

    def timed_at(self, moments_ns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which moments lie within a timed step; between steps a long run has gaps of which no detail is left."""
        if not len(self):
            return np.zeros(len(moments_ns), dtype=bool)
        step = np.searchsorted(self.start_ns, moments_ns, side="right") - 1
        at = np.clip(step, 0, None)
        return (step >= 0) & (moments_ns < self.end_ns[at]) & self.timed[at]

    def within(self, spans: NDArray[np.int64]) -> NDArray[np.int64]:
        """The spans, shape (k, 4), that begin within a timed step."""
        return spans[self.timed_at(spans[:, 1])]

    def step_time(self) -> StepTime | None:
        """Median, 10th and 95th percentile and mean of the timed steps; None where none was timed."""
        timed = self.duration_s[self.timed]
        if not len(timed):
            return None
        return StepTime(
            p50_s=float(np.median(timed)),
            p95_s=float(np.quantile(timed, 0.95)),
            mean_s=float(np.mean(timed)),
            n=len(timed),
            p10_s=float(np.quantile(timed, 0.1)),
        )


def outliers(duration_s: NDArray[np.float64], timed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Timed steps that took far longer than the median one; none where there are too few to tell. Shapes (steps,)."""
    counted = duration_s[timed]
    if len(counted) < MIN_TIMED_STEPS:
        return np.zeros(len(duration_s), dtype=bool)
    median = float(np.median(counted))
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(counted - median)))
    limit = max(median + OUTLIER_DEVIATIONS * sigma, OUTLIER_RATIO * median)
    return timed & (duration_s > limit)


def find_steps(recording: RankRecording, *, warmup: int) -> Steps:
    """The steps that the agent saw.

    Up to ``warmup`` first steps are left out of the timing, fewer if less than `MIN_TIMED_STEPS` would remain, yet
    never less than one where there are two.
    """
    records = recording.of_code(layout.STEP, layout.STEP_TRACED)
    traced = records[:, 0] == layout.STEP_TRACED
    untraced = int((~traced).sum())
    left_out = min(warmup, max(untraced - MIN_TIMED_STEPS, min(untraced - 1, 1), 0))
    order = np.cumsum(~traced) - 1
    return Steps(
        start_ns=records[:, 1],
        end_ns=records[:, 2],
        fetches=records[:, 3],
        traced=traced,
        warmup=~traced & (order < left_out),
    )
