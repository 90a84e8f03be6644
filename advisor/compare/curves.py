"""Quality against cost of one training: best so far, cost to a quality, quality at a cost.

Values between measured points are read by linear interpolation, never beyond them. A quality that was not reached costs
infinitely much: inside arrays that is ``inf``, for callers it is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


class Direction(str, Enum):
    """Which way a quality gets better."""

    LOWER = "lower"
    HIGHER = "higher"

    @property
    def sign(self) -> float:
        """What a quality is multiplied by so that more is better."""
        return 1.0 if self is Direction.HIGHER else -1.0


@dataclass(frozen=True, eq=False)
class Curve:
    """One training, as evaluated.

    Attributes:
        cost: finite, not negative, strictly increasing. Shape (n,), n ≥ 1.
        quality: as logged; not finite where the training had broken. Shape (n,).
    """

    cost: F64
    quality: F64
    direction: Direction

    @property
    def end_cost(self) -> float:
        """The cost of the last evaluation."""
        return float(self.cost[-1])

    @property
    def diverged(self) -> bool:
        """The last evaluation gave no finite number."""
        return not bool(np.isfinite(self.quality[-1]))

    @property
    def best(self) -> float | None:
        """The best quality; None where no evaluation gave a finite number."""
        line = best_so_far(self)
        return None if np.isnan(line[-1]) else float(line[-1])

    @property
    def first(self) -> float | None:
        """The first finite quality; None where there is none."""
        finite = self.quality[np.isfinite(self.quality)]
        return float(finite[0]) if len(finite) else None


@dataclass(frozen=True)
class Reached:
    """What a quality cost; with ``at_most`` the first evaluation was as good already, so it may have cost less."""

    cost: float
    at_most: bool


def curve(cost: Sequence[float] | F64, quality: Sequence[float] | F64, direction: Direction) -> Curve | None:
    """Put points in order of cost; of several at one cost the last counts; None where no point has a cost."""
    costs, qualities = np.asarray(cost, dtype=np.float64), np.asarray(quality, dtype=np.float64)
    usable = np.isfinite(costs) & (costs >= 0)
    costs, qualities = costs[usable], qualities[usable]
    order = np.argsort(costs, kind="stable")
    costs, qualities = costs[order], qualities[order]
    last = np.append(costs[1:] != costs[:-1], True)[: len(costs)]
    return Curve(costs[last], qualities[last], direction) if len(costs) else None


def best_so_far(one: Curve) -> F64:
    """The best quality up to each point; NaN before the first finite one. Shape (n,)."""
    return _best(one) * one.direction.sign


def cost_to_quality(one: Curve, quality: float) -> Reached | None:
    """What it cost to be as good as ``quality``; None if the training never was."""
    cost = float(costs_to(one, np.asarray([quality]))[0])
    if not np.isfinite(cost):
        return None
    first = one.first
    sign = one.direction.sign
    return Reached(cost, at_most=first is not None and first * sign > quality * sign)


def costs_to(one: Curve, qualities: F64) -> F64:
    """What each quality cost; ``inf`` where it was never reached, the first cost where the first point was better."""
    cost, best = _from_first_finite(one)
    wanted = qualities * one.direction.sign
    if not len(cost):
        return np.full(len(wanted), np.inf)
    after = np.searchsorted(best, wanted, side="left")
    inside = np.clip(after, 1, max(len(cost) - 1, 1))
    result = _between(cost, best, wanted, inside) if len(cost) > 1 else np.full(len(wanted), cost[0])
    result[after == 0] = cost[0]
    result[after == len(cost)] = np.inf
    return result


def qualities_at(one: Curve, costs: F64, *, raw: bool = False) -> F64:
    """Best quality at each cost, or with ``raw`` the quality as logged; NaN outside what was measured."""
    cost, best = _from_first_finite(one)
    line = best * one.direction.sign
    if raw:
        cost, line = one.cost, one.quality
    if not len(cost):
        return np.full(len(costs), np.nan)
    return np.interp(costs, cost, line, left=np.nan, right=np.nan)


def quality_at_cost(one: Curve, cost: float) -> float | None:
    """The best quality that was had for ``cost``; None outside what was measured."""
    found = float(qualities_at(one, np.asarray([cost]))[0])
    return None if np.isnan(found) else found


def _best(one: Curve) -> F64:
    """The running best with more meaning better."""
    better = np.where(np.isfinite(one.quality), one.quality * one.direction.sign, np.nan)
    return np.fmax.accumulate(better)


def _from_first_finite(one: Curve) -> tuple[F64, F64]:
    best = _best(one)
    known = ~np.isnan(best)
    return one.cost[known], best[known]


def _between(cost: F64, best: F64, wanted: F64, after: NDArray[np.intp]) -> F64:
    """Linear between the point before and the one at which ``wanted`` is reached."""
    rise = best[after] - best[after - 1]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = np.where(rise > 0, (wanted - best[after - 1]) / rise, 1.0)
    return cost[after - 1] + np.clip(share, 0.0, 1.0) * (cost[after] - cost[after - 1])
