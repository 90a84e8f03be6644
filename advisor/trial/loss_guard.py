"""Compares the losses of both sides of a trial, by what the change promises.

``exact`` must be bitwise equal under the script's own seeding, ``numerical`` within a tolerance. Where that cannot be
asked, because the script is not deterministic or the change moves random numbers, means are compared, which is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .arm import Losses

#: Means of losses differ beyond chance if they lie so many standard errors apart.
STANDARD_ERRORS = 4.0
#: Differences of means below this share of the mean are not looked at.
LEAST_SHARE = 0.02
#: Rounding that differs grows from update to update: a numerical change is held to the losses of so many steps.
NUMERICAL_STEPS = 40

RankLosses = Mapping[int, Losses]


class LossOutcome(str, Enum):
    """How the losses of both sides compare."""

    EQUAL = "equal"
    WITHIN_TOLERANCE = "within tolerance"
    SAME_MEAN = "same mean"
    DIFFER = "differ"
    NOT_COMPARABLE = "not comparable"

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class LossCheck:
    """The outcome and the sentence that explains it."""

    outcome: LossOutcome
    text: str

    @property
    def allows_keeping(self) -> bool:
        """Whether nothing speaks against the change."""
        return self.outcome is not LossOutcome.DIFFER

    def __str__(self) -> str:
        return f"{self.outcome}: {self.text}"


def check_losses(
    base: Sequence[RankLosses],
    changed: Sequence[RankLosses],
    *,
    equivalence: str,
    tolerance: float,
    moves_randomness: bool = False,
) -> LossCheck:
    """Compare the losses of the unchanged runs with those of the changed ones.

    Args:
        base, changed: the losses of each run, by rank.
        equivalence: what the change promises: ``exact``, ``numerical`` or ``semantic``.
        tolerance: relative difference that a numerical change explains.
        moves_randomness: the change may draw random numbers in another order.
    """
    if equivalence == "semantic":
        return LossCheck(
            LossOutcome.NOT_COMPARABLE,
            "the change alters what the model learns: compare quality against cost by `trainrx compare --curves`",
        )
    first, second = [_values(run) for run in base], [_values(run) for run in changed]
    if not first or not second or not all(map(len, (*first, *second))):
        return LossCheck(
            LossOutcome.NOT_COMPARABLE, "no backward of the script was seen, so no loss is known"
        )
    if not all(np.isfinite(values).all() for values in second) and np.isfinite(np.concatenate(first)).all():
        return LossCheck(LossOutcome.DIFFER, "the changed run has losses that are not finite")
    if not _all_equal(first):
        return _same_mean(first, second, "the script is not deterministic, its unchanged runs differ already")
    if equivalence == "exact":
        compared = _exact(first, second)
    else:
        early = [_values(run, NUMERICAL_STEPS) for run in base]
        compared = _close(early, [_values(run, NUMERICAL_STEPS) for run in changed], tolerance)
    if compared.outcome is LossOutcome.DIFFER and moves_randomness:
        return _same_mean(first, second, "the change moves random numbers to other processes")
    return compared


def _values(run: RankLosses, most_steps: float = math.inf) -> NDArray[np.float64]:
    """The losses of the first steps, rank after rank."""
    return np.array(
        [value for rank in sorted(run) for step, value in run[rank] if step < most_steps], dtype=float
    )


def _all_equal(runs: Sequence[NDArray[np.float64]]) -> bool:
    return all(_equal(one, other) for one, other in combinations(runs, 2))


def _equal(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    n = min(len(one), len(other))
    return bool(np.array_equal(one[:n], other[:n], equal_nan=True))


def _exact(base: Sequence[NDArray[np.float64]], changed: Sequence[NDArray[np.float64]]) -> LossCheck:
    n = min(map(len, (*base, *changed)))
    if all(_equal(base[0], values) for values in changed):
        return LossCheck(LossOutcome.EQUAL, f"all {n} losses are bitwise equal")
    differing = next(values for values in changed if not _equal(base[0], values))
    m = min(len(base[0]), len(differing))
    where = int(np.flatnonzero(base[0][:m] != differing[:m])[0])
    return LossCheck(
        LossOutcome.DIFFER,
        f"loss {where + 1} of {m} is {differing[where]:.9g}, unchanged {base[0][where]:.9g}, and they must be equal",
    )


def _close(
    base: Sequence[NDArray[np.float64]], changed: Sequence[NDArray[np.float64]], tolerance: float
) -> LossCheck:
    n = min(map(len, (*base, *changed)))
    scale = max(float(np.mean(np.abs(base[0][:n]))), math.ulp(1.0))
    worst = max(float(np.mean(np.abs(values[:n] - base[0][:n]))) for values in changed) / scale
    outcome = LossOutcome.WITHIN_TOLERANCE if worst <= tolerance else LossOutcome.DIFFER
    return LossCheck(
        outcome, f"{n} losses lie {worst:.2g} of their size apart on average, {tolerance:.2g} is allowed"
    )


def _same_mean(
    base: Sequence[NDArray[np.float64]], changed: Sequence[NDArray[np.float64]], why: str
) -> LossCheck:
    """A weak check: only gross differences show in the means of a few steps."""
    first, second = (float(np.mean([run.mean() for run in runs])) for runs in (base, changed))
    apart = abs(second - first)
    limit = max(STANDARD_ERRORS * math.hypot(_error(base), _error(changed)), LEAST_SHARE * abs(first))
    numbers = f"mean losses are {second:.6g} and {first:.6g} unchanged"
    if apart > limit:
        return LossCheck(LossOutcome.DIFFER, f"{why}; {numbers}, which chance does not explain")
    return LossCheck(LossOutcome.SAME_MEAN, f"{why}, so losses cannot be compared one by one; {numbers}")


def _error(runs: Sequence[NDArray[np.float64]]) -> float:
    """Standard error of the mean over runs: as runs differ, or as the losses within them do, whichever is more.

    The losses of one run are not independent, for all follow from its first weights; the means of runs are.
    """
    between = [float(run.mean()) for run in runs]
    within = np.concatenate(runs)
    return max(_standard_error(np.array(between)), _standard_error(within))


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
