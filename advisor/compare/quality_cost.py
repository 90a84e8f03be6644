"""Holds methods against a baseline by their quality-against-cost curves, as Bartoldson et al. (arXiv 2210.06640) ask.

A speed-up is a difference between two curves at an equal quality, so it is given for the whole range of qualities that
both reach; one quality, the target, stands for it in a table. It never calls a difference a gain that the rules forbid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...profiler.errors import NotEnoughEvidence, UsageError
from .costs import CostAxis
from .curve_fairness import Asked, Check, checks
from .curves import Curve, Direction, cost_to_quality, quality_at_cost
from .methods import Method, SeedRun, Source, methods_of
from .pareto import pareto_front
from .speedups import (
    Outcome,
    Speedup,
    SpeedupCurve,
    best_of_most,
    median_cost,
    outcome_at,
    shared_range,
    speedup_at,
    speedup_curve,
)

MAX_METHODS = 20
MAX_RUNS = 400


@dataclass(frozen=True)
class Question:
    """What is asked of the curves.

    Attributes:
        cost: an axis, or the name of a column that holds a running total.
        target: the quality to be reached; None takes the best that every seed reaches.
        target_told: the target was named, so that it may have been fixed before the trainings; else it was chosen from
            their curves.
        baseline: None takes the first method.
        answers: to rules of a fair comparison, by name.
    """

    metric: str
    direction: Direction
    cost: CostAxis | str
    target: float | None = None
    target_told: bool = False
    baseline: str | None = None
    answers: Mapping[str, bool] = field(default_factory=dict[str, bool])


@dataclass(frozen=True)
class SharedQualities:
    """What all methods reach, more than half of the seeds of each; ``by_all`` is the best that every seed reaches.

    The range begins where no training was better at its first evaluation; where there is no such quality all three are
    one. Seeds that diverged have no say in ``by_all``; where it would lie before the range it is ``best``.
    """

    worst: float
    best: float
    by_all: float


@dataclass(frozen=True)
class Spread:
    """Median, least and greatest over seeds; None where a seed has none, or too many have none for a median."""

    median: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class EndPoint:
    """Where one training ended: its cost, the best it had reached; ``on_front`` if no other beats it in both."""

    method: str
    seed: int | None
    cost: float
    quality: float
    on_front: bool


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method beside the baseline.

    Attributes:
        cost_to_target: over seeds; ``high`` is None where a seed never reached it.
        reached: how many seeds reached the target.
        at_first: the first evaluation was there already in half of the seeds: the cost is at most this.
        at_equal_cost: the best quality for the cost that all methods spent.
        speedup, outcome, speedups: against the baseline; None for the baseline itself.
    """

    method: Method
    best: Spread
    cost_to_target: Spread
    reached: int
    at_first: bool
    diverged: int
    at_equal_cost: Spread
    speedup: Speedup | None
    outcome: Outcome | None
    speedups: SpeedupCurve | None


@dataclass(frozen=True, eq=False)
class QualityComparison:
    """Methods side by side; the first result is the baseline's.

    Attributes:
        shared: what all methods reach; None where there is no such quality.
        target: None where nothing is shared and none was told.
        equal_cost: the cost that every training spent.
    """

    question: Question
    results: tuple[MethodResult, ...]
    shared: SharedQualities | None
    target: float | None
    equal_cost: float
    ends: tuple[EndPoint, ...]
    checks: tuple[Check, ...]

    @property
    def forbidding(self) -> list[Check]:
        """The broken rules that take the headline away."""
        return [check for check in self.checks if check.forbids]

    @property
    def baseline(self) -> str:
        """The method that others are held against."""
        return self.results[0].method.name


def compare_curves(sources: Sequence[Source], question: Question) -> QualityComparison:
    """Compare the methods that metric files show.

    Raises:
        UsageError: too many methods, a baseline that there is not, files that cannot be told apart.
        InputError: a file lacks the metric or the cost.
        NotEnoughEvidence: no training has a finite quality.
    """
    methods = _ordered(
        methods_of(sources, metric=question.metric, cost=question.cost, direction=question.direction),
        question,
    )
    sides = [method.curves for method in methods]
    if not any(one.best is not None for side in sides for one in side):
        raise NotEnoughEvidence(f"no training has a finite {question.metric}: there is no quality to compare")
    shared = _shared(sides)
    target = question.target if question.target is not None else shared.by_all if shared is not None else None
    equal_cost = min(one.end_cost for side in sides for one in side)
    return QualityComparison(
        question=question,
        results=tuple(_result(method, methods[0], target, equal_cost) for method in methods),
        shared=shared,
        target=target,
        equal_cost=equal_cost,
        ends=_ends(methods, question.direction),
        checks=checks(
            Asked(methods, question.metric, question.cost, target_told=question.target_told),
            question.answers,
        ),
    )


def shared_qualities(sources: Sequence[Source], question: Question) -> SharedQualities | None:
    """The qualities that all methods reach; None where there are none.

    Raises:
        InputError: a file lacks the metric or the cost.
        UsageError: two files say that they are the same training.
    """
    methods = methods_of(sources, metric=question.metric, cost=question.cost, direction=question.direction)
    return _shared([method.curves for method in methods])


def _shared(sides: Sequence[Sequence[Curve]]) -> SharedQualities | None:
    best = best_of_most(sides)
    if best is None:
        return None
    least, measured = _reached_by_all(sides, best), shared_range(sides)
    if measured is None:
        return SharedQualities(least, least, least)
    sign = sides[0][0].direction.sign
    return SharedQualities(*measured, least if least * sign >= measured[0] * sign else best)


def _reached_by_all(sides: Sequence[Sequence[Curve]], best: float) -> float:
    """The best quality of the training that got least far; one that broke is left to count as infinitely costly."""
    sign = sides[0][0].direction.sign
    lasting = [one.best * sign for side in sides for one in side if one.best is not None and not one.diverged]
    return min([best * sign, *lasting]) * sign


def _ordered(methods: list[Method], question: Question) -> list[Method]:
    """The baseline first."""
    runs = sum(len(method.runs) for method in methods)
    if len(methods) > MAX_METHODS or runs > MAX_RUNS:
        raise UsageError(
            f"{len(methods)} methods with {runs} trainings are too many to compare: choose up to "
            f"{MAX_METHODS} methods and {MAX_RUNS} trainings"
        )
    names = [method.name for method in methods]
    if question.baseline is None:
        return methods
    if question.baseline not in names:
        raise UsageError(
            f"there is no method {question.baseline!r} to be the baseline: there are {', '.join(names)}"
        )
    return sorted(methods, key=lambda method: method.name != question.baseline)


def _result(method: Method, baseline: Method, target: float | None, equal_cost: float) -> MethodResult:
    curves = method.curves
    against = None if method is baseline or target is None else (baseline.curves, curves, target)
    reached = [None if target is None else cost_to_quality(one, target) for one in curves]
    costs = [one.cost for one in reached if one is not None]
    return MethodResult(
        method=method,
        best=_spread([one.best for one in curves], curves[0].direction),
        cost_to_target=Spread(
            None if target is None else median_cost(curves, target),
            min(costs, default=None),
            max(costs) if costs and len(costs) == len(curves) else None,
        ),
        reached=len(costs),
        at_first=2 * sum(one is not None and one.at_most for one in reached) >= len(curves),
        diverged=sum(one.diverged for one in curves),
        at_equal_cost=_spread([quality_at_cost(one, equal_cost) for one in curves], curves[0].direction),
        speedup=None if against is None else speedup_at(*against),
        outcome=None if against is None else outcome_at(*against),
        speedups=None if method is baseline else speedup_curve(baseline.curves, curves),
    )


def _spread(values: Sequence[float | None], direction: Direction) -> Spread:
    """A seed without a value counts as worse than all others."""
    sign = direction.sign
    better = [-np.inf if value is None else value * sign for value in values]
    median, worst, best = (
        float(value) * sign if np.isfinite(value) else None
        for value in (np.median(better), min(better), max(better))
    )
    return Spread(median, *((worst, best) if direction is Direction.HIGHER else (best, worst)))


def _ends_of(run: SeedRun) -> list[tuple[float, float]]:
    """Cost and best quality at the end of a training; of each budget where there are several."""
    if run.ends_only:
        points = zip(run.curve.cost.tolist(), run.curve.quality.tolist(), strict=True)
        return [(cost, quality) for cost, quality in points if np.isfinite(quality)]
    best = run.curve.best
    return [] if best is None else [(run.curve.end_cost, best)]


def _ends(methods: Sequence[Method], direction: Direction) -> tuple[EndPoint, ...]:
    ended = [
        (method.name, run.seed, *end) for method in methods for run in method.runs for end in _ends_of(run)
    ]
    front = set(pareto_front([(cost, best) for _, _, cost, best in ended], direction))
    return tuple(
        EndPoint(name, seed, cost, best, at in front) for at, (name, seed, cost, best) in enumerate(ended)
    )
