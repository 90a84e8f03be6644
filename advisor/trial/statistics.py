"""From measured pairs to a verdict: median ratio, interval, and whether it shows anything.

A ratio is the unchanged step time over the changed one, so above 1 the change is faster. Pure functions of numbers;
nothing here measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .verdict import Verdict

#: A gain or loss counts only if the whole interval lies beyond this ratio: less is not worth a change.
PRACTICAL_RATIO = 1.03
LEVEL = 0.95
#: The interval is narrow enough once it ends within this ratio of the median.
NARROW_RATIO = 1.03
#: Or once the effect is so many half-widths away from none that more pairs would not change the answer.
CLEAR_HALF_WIDTHS = 3.0
MIN_PAIRS = 3
RESAMPLES = 2000
#: An arm has stalled if it took this multiple of its kind's median and lies so many robust deviations above it.
STALL_RATIO = 1.3
STALL_DEVIATIONS = 5.0
#: Scales the median absolute deviation to a standard deviation of a normal distribution.
MAD_TO_SIGMA = 1.4826
#: If more of the pairs stalled, stalling is what this machine or this change does, and no pair is left out.
MOST_STALLED = 0.25


@dataclass(frozen=True)
class Interval:
    """Median ratio with the ends of its interval."""

    median: float
    low: float
    high: float

    @property
    def half_width_log(self) -> float:
        """Distance of the farther end from the median, as a natural logarithm of a ratio."""
        return max(np.log(self.high / self.median), np.log(self.median / self.low))


def interval(ratios: Sequence[float], *, seed: int = 0) -> Interval:
    """The median of pair ratios and its 95 % interval.

    The ends are those of the percentile bootstrap of the median, widened where they lie inside Student's interval of
    the mean log ratio: over three pairs the bootstrap alone would cover the truth in about three of four cases only.

    Args:
        ratios: one per pair, positive; at least `MIN_PAIRS`.
        seed: of the resampling.

    Raises:
        ValueError: there are too few ratios.
    """
    if len(ratios) < MIN_PAIRS:
        raise ValueError(f"{len(ratios)} pairs are too few: an interval needs {MIN_PAIRS}")
    logs = np.log(np.asarray(ratios, dtype=float))
    boot_low, boot_high = _bootstrap(logs, seed)
    t_low, t_high = _student(logs)
    median = float(np.median(logs))
    low, high = min(boot_low, t_low, median), max(boot_high, t_high, median)
    return Interval(median=float(np.exp(median)), low=float(np.exp(low)), high=float(np.exp(high)))


def verdict(result: Interval) -> Verdict:
    """Better or worse if the whole interval lies beyond the practical threshold, else no evidence."""
    if result.low > PRACTICAL_RATIO:
        return Verdict.BETTER
    if result.high < 1 / PRACTICAL_RATIO:
        return Verdict.WORSE
    return Verdict.NO_EVIDENCE


def is_settled(result: Interval) -> bool:
    """Whether more pairs would hardly change the answer; it looks at widths, so that stopping favours no side."""
    half_width = result.half_width_log
    return half_width <= np.log(NARROW_RATIO) or abs(np.log(result.median)) >= CLEAR_HALF_WIDTHS * half_width


def stalled_pairs(base_s: Sequence[float], changed_s: Sequence[float]) -> tuple[int, ...]:
    """Numbers of the pairs in which an arm took far longer than the other arms of its own kind.

    The rule compares an arm with its own kind only, never with its partner, so it favours neither.
    """
    stalled = _stalled(np.asarray(base_s)) | _stalled(np.asarray(changed_s))
    if stalled.sum() > MOST_STALLED * len(stalled):
        return ()
    return tuple(int(number) for number in np.flatnonzero(stalled))


def _stalled(times_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    if len(times_s) < MIN_PAIRS:
        return np.zeros(len(times_s), dtype=bool)
    median = float(np.median(times_s))
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(times_s - median)))
    return times_s > max(STALL_RATIO * median, median + STALL_DEVIATIONS * sigma)


def _bootstrap(logs: NDArray[np.float64], seed: int) -> tuple[float, float]:
    generator = np.random.default_rng(seed)
    chosen = generator.integers(len(logs), size=(RESAMPLES, len(logs)))
    medians = np.median(logs[chosen], axis=1)
    tail = (1 - LEVEL) / 2
    return float(np.quantile(medians, tail)), float(np.quantile(medians, 1 - tail))


def _student(logs: NDArray[np.float64]) -> tuple[float, float]:
    mean, error = float(np.mean(logs)), float(np.std(logs, ddof=1)) / np.sqrt(len(logs))
    reach = float(stats.t.ppf((1 + LEVEL) / 2, df=len(logs) - 1)) * float(error)
    return mean - reach, mean + reach
