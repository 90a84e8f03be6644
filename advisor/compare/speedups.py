"""How much cheaper a method reaches the qualities that a baseline reaches too, with an interval over seeds.

The speed-up at a quality is the baseline's median cost to it over the method's; above 1 the method is cheaper. The
interval resamples the seeds of both sides (percentile bootstrap), at each quality on its own. A training that did not
reach a quality counts as infinitely costly in every median.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from .curves import F64, Curve, Direction, cost_to_quality, costs_to

RESAMPLES = 1000
CONFIDENCE = 0.95
#: Qualities at which the curve of speed-ups is read.
QUALITIES = 65
#: With fewer seeds on a side nothing is claimed.
MIN_SEEDS = 3
#: Share of comparisons of a method with itself that end in a claim, by seeds; simulated with log-normal costs (1,500
#: comparisons each). The percentile bootstrap of few values is too narrow for its 95 %.
CHANCE_OF_CLAIM = {3: 0.09, 4: 0.07}
CHANCE_WITH_MORE = 0.04
#: A speed-up closer to 1 than this is no difference worth a word, however narrow its interval.
PRACTICAL_RATIO = 1.03


class Outcome(str, Enum):
    """What a comparison at one quality shows of a method."""

    CHEAPER = "cheaper"
    COSTLIER = "costlier"
    NO_EVIDENCE = "no evidence of a difference"
    NEVER_REACHED = "does not reach the target in most seeds"
    ONLY_ONE = "reaches the target, the baseline does not in most seeds"
    NEITHER = "neither reaches the target in most seeds"
    UNAVAILABLE = "cannot be compared"


class Sure(str, Enum):
    """How far a speed-up is known: a side whose first evaluation was good enough may have got there for less."""

    EXACT = "exact"
    AT_LEAST = "at least"
    AT_MOST = "at most"


@dataclass(frozen=True)
class Speedup:
    """A speed-up with its 95 % interval; a bound is None where resampled seeds include none that reached the quality.

    Both bounds are None, and ``has_interval`` is false, where a side has a single seed.
    """

    median: float
    low: float | None
    high: float | None
    has_interval: bool
    sure: Sure = Sure.EXACT


@dataclass(frozen=True, eq=False)
class SpeedupCurve:
    """Speed-ups over the range of qualities that both sides reach, the worst quality first. Shapes (n,)."""

    quality: F64
    speedups: tuple[Speedup, ...]


def shared_range(sides: Sequence[Sequence[Curve]]) -> tuple[float, float] | None:
    """From the worst to the best quality that every side reaches and had not reached at its first point.

    A side reaches what more than half of its seeds reach. None where the range is empty.
    """
    direction = sides[0][0].direction
    first = [one.first for side in sides for one in side if one.first is not None]
    best = best_of_most(sides)
    if best is None or not first:
        return None
    start = max(value * direction.sign for value in first) * direction.sign
    return (start, best) if start * direction.sign <= best * direction.sign else None


def best_of_most(sides: Sequence[Sequence[Curve]]) -> float | None:
    """The best quality that more than half of the seeds of every side reach; None where a side reaches none."""
    sign = sides[0][0].direction.sign
    best = [_best_of_most(side) for side in sides]
    known = [value * sign for value in best if value is not None]
    return min(known) * sign if len(known) == len(sides) else None


def speedup_curve(baseline: Sequence[Curve], method: Sequence[Curve]) -> SpeedupCurve | None:
    """The speed-ups over the whole range of qualities that both reach; None where there is none."""
    found = shared_range([baseline, method])
    if found is None:
        return None
    qualities = np.linspace(*found, QUALITIES) if found[0] != found[1] else np.asarray([found[1]])
    pairs = [
        (quality, speedup)
        for quality, speedup in zip(qualities, speedups_at(baseline, method, qualities), strict=True)
        if speedup is not None
    ]
    if not pairs:
        return None
    return SpeedupCurve(np.asarray([quality for quality, _ in pairs]), tuple(one for _, one in pairs))


def speedups_at(baseline: Sequence[Curve], method: Sequence[Curve], qualities: F64) -> list[Speedup | None]:
    """The speed-up at each quality; None where a side does not reach it in most seeds, or had it for nothing."""
    before, after = _costs(baseline, qualities), _costs(method, qualities)
    middle = _ratio(np.median(before, axis=0), np.median(after, axis=0))
    low, high = _interval(before, after)
    has_interval = min(len(before), len(after)) > 1
    return [
        Speedup(float(m), _bound(bottom), _bound(top), has_interval) if np.isfinite(m) and m > 0 else None
        for m, bottom, top in zip(middle, low, high, strict=True)
    ]


def speedup_at(baseline: Sequence[Curve], method: Sequence[Curve], quality: float) -> Speedup | None:
    """The speed-up at one quality; None also where both sides were there at their first evaluation."""
    found = speedups_at(baseline, method, np.asarray([quality]))[0]
    early = [sum(_at_first(one, quality) for one in side) for side in (baseline, method)]
    unsure = [2 * count >= len(side) for count, side in zip(early, (baseline, method), strict=True)]
    if found is None or all(unsure):
        return None
    return replace(
        found,
        low=None if early[0] else found.low,
        high=None if early[1] else found.high,
        sure=Sure.AT_MOST if unsure[0] else Sure.AT_LEAST if unsure[1] else Sure.EXACT,
    )


def _at_first(one: Curve, quality: float) -> bool:
    reached = cost_to_quality(one, quality)
    return reached is not None and reached.at_most


def outcome_at(baseline: Sequence[Curve], method: Sequence[Curve], quality: float) -> Outcome:
    """What can be claimed of the method at a quality."""
    reached = [median_cost(side, quality) is not None for side in (baseline, method)]
    match reached:
        case [True, False]:
            return Outcome.NEVER_REACHED
        case [False, True]:
            return Outcome.ONLY_ONE
        case [False, False]:
            return Outcome.NEITHER
        case _:
            return _claim(speedup_at(baseline, method, quality), min(len(baseline), len(method)))


def median_cost(side: Sequence[Curve], quality: float) -> float | None:
    """The median cost to a quality over seeds; None where half of them or more never reach it."""
    cost = float(np.median(_costs(side, np.asarray([quality]))))
    return cost if np.isfinite(cost) else None


def chance_of_claim(seeds: int) -> float:
    """How often a method would be called different from itself, by the smaller number of seeds of the two sides."""
    return CHANCE_OF_CLAIM.get(seeds, CHANCE_WITH_MORE)


def _claim(found: Speedup | None, seeds: int) -> Outcome:
    if found is None:
        return Outcome.UNAVAILABLE
    if seeds < MIN_SEEDS:
        return Outcome.NO_EVIDENCE
    if (found.low or 0.0) > 1 and found.median >= PRACTICAL_RATIO:
        return Outcome.CHEAPER
    if found.high is not None and found.high < 1 and found.median <= 1 / PRACTICAL_RATIO:
        return Outcome.COSTLIER
    return Outcome.NO_EVIDENCE


def _best_of_most(side: Sequence[Curve]) -> float | None:
    """The best quality that more than half of the seeds reach."""
    direction = side[0].direction
    best = sorted((one.best for one in side if one.best is not None), reverse=direction is Direction.HIGHER)
    place = len(side) // 2
    return best[place] if place < len(best) else None


def _costs(side: Sequence[Curve], qualities: F64) -> F64:
    """Cost of each seed to each quality, shape (seeds, qualities); in order of cost, whatever that of the seeds."""
    costs = np.stack([costs_to(one, qualities) for one in side])
    return costs[np.lexsort(costs.T)]


def _interval(before: F64, after: F64) -> tuple[F64, F64]:
    ratios = _ratio(_resampled(before, 0), _resampled(after, 1))
    tail = (1 - CONFIDENCE) / 2
    untold = np.isnan(ratios)
    low = np.quantile(np.where(untold, 0.0, ratios), tail, axis=0, method="inverted_cdf")
    high = np.quantile(np.where(untold, np.inf, ratios), 1 - tail, axis=0, method="inverted_cdf")
    if min(len(before), len(after)) < 2:
        return np.zeros_like(low), np.full_like(high, np.inf)
    return low, high


def _resampled(costs: F64, stream: int) -> F64:
    """Medians of seeds drawn with replacement, shape (RESAMPLES, qualities)."""
    chosen = np.random.default_rng(stream).integers(0, len(costs), size=(RESAMPLES, len(costs)))
    return np.median(costs[chosen], axis=1)


def _ratio(before: F64, after: F64) -> F64:
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return before / after


def _bound(value: float) -> float | None:
    return float(value) if np.isfinite(value) and value > 0 else None
