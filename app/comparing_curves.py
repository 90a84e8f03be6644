"""Puts a question to metric files, for terminal and dashboard: what is not told is chosen or asked here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..advisor.compare.costs import CostAxis
from ..advisor.compare.curve_fairness import TARGET_FIRST
from ..advisor.compare.curves import Direction
from ..advisor.compare.methods import Source, shared_axes, shared_metrics
from ..advisor.compare.metric_names import DataSplit, direction_of, split_of
from ..advisor.compare.quality_cost import MethodResult, QualityComparison, Question
from ..advisor.compare.speedups import Speedup
from ..profiler.errors import InputError, UsageError

NO_QUALITY = "these files share no column that may hold a quality"
NO_COST = "these files share no column that is known as a cost, as step, epoch, seconds or total_flos"
#: The costs that users feel stand first.
_PREFERRED = (
    CostAxis.SECONDS, CostAxis.ENERGY, CostAxis.FLOPS, CostAxis.TOKENS, CostAxis.SAMPLES, CostAxis.STEPS,
    CostAxis.EPOCHS,
)  # fmt: skip


def ask(
    sources: Sequence[Source],
    *,
    metric: str | None = None,
    better: str | None = None,
    cost: str | None = None,
    target: float | None = None,
    baseline: str | None = None,
    answers: Mapping[str, bool] | None = None,
) -> Question:
    """The question to put to these files; what is left out is taken from them where only one answer is possible.

    Raises:
        UsageError: what is left out has to be told, or what is told makes no sense.
        InputError: the files share no metric.
    """
    if target is not None and not math.isfinite(target):
        raise UsageError(f"--target {target} is not a valid quality: give a finite number")
    named = metric or _only_metric(sources)
    return Question(
        metric=named,
        direction=_direction(named, better),
        cost=_cost(sources, cost),
        target=target,
        target_told=target is not None,
        baseline=baseline,
        answers=answers or {},
    )


def axes_of(sources: Sequence[Source]) -> list[CostAxis]:
    """The costs that all files tell, the one to look at first in front."""
    shared = shared_axes([source.table for source in sources])
    return [axis for axis in _PREFERRED if axis in shared]


def parse_answers(words: Sequence[str]) -> dict[str, bool]:
    """Answers to rules as a command line gives them: ``RULE=yes`` or ``RULE=no``.

    Raises:
        UsageError: one is neither.
    """
    found: dict[str, bool] = {}
    for word in words:
        rule, _, answer = word.partition("=")
        if answer.lower() not in ("yes", "no"):
            raise UsageError(
                f"--answer {word} is not a valid answer: give RULE=yes or RULE=no, as in evaluation-data=yes"
            )
        found[rule] = answer.lower() == "yes"
    return found


def document(comparison: QualityComparison) -> str:
    """The JSON text of a comparison."""
    question = comparison.question
    axis = question.cost if isinstance(question.cost, CostAxis) else None
    return json.dumps(
        {
            "metric": question.metric,
            "better": question.direction.value,
            "cost": {
                "name": question.cost if axis is None else axis.value,
                "unit": None if axis is None else axis.unit,
            },
            "target": {"quality": comparison.target, "fixed_before": _fixed_before(comparison)},
            "shared": None if comparison.shared is None else asdict(comparison.shared),
            "equal_cost": comparison.equal_cost,
            "baseline": comparison.baseline,
            "methods": [_method(result) for result in comparison.results],
            "ends": [asdict(end) for end in comparison.ends],
            "checks": [
                {
                    "rule": check.rule,
                    "standing": check.standing.value,
                    "sentence": check.sentence,
                    "answer": check.answer,
                    "forbids_headline": check.forbids,
                }
                for check in comparison.checks
            ],
        },
        indent=1,
        allow_nan=False,
    )


def _fixed_before(comparison: QualityComparison) -> bool | None:
    """Whether the target was fixed before the trainings; None where nobody said so."""
    if not comparison.question.target_told:
        return False
    return next((check.answer for check in comparison.checks if check.rule == TARGET_FIRST), None)


def _method(result: MethodResult) -> dict[str, Any]:
    return {
        "name": result.method.name,
        "runs": [
            {
                "seed": run.seed,
                "files": [source.table.source for source in run.sources],
                "evaluations": len(run.curve.cost),
                "end_cost": run.curve.end_cost,
                "best": run.curve.best,
                "diverged": run.curve.diverged,
                "ends_of_trainings_only": run.ends_only,
            }
            for run in result.method.runs
        ],
        "best": asdict(result.best),
        "cost_to_target": {**asdict(result.cost_to_target), "seeds_that_reached": result.reached},
        "quality_at_equal_cost": asdict(result.at_equal_cost),
        "speedup": _speedup(result.speedup),
        "outcome": None if result.outcome is None else result.outcome.value,
        "speedups": []
        if result.speedups is None
        else [
            {"quality": float(quality), **(_speedup(one) or {})}
            for quality, one in zip(result.speedups.quality, result.speedups.speedups, strict=True)
        ],
    }


def _speedup(found: Speedup | None) -> dict[str, float | str | bool | None] | None:
    if found is None:
        return None
    return {
        "median": found.median,
        "low": found.low,
        "high": found.high,
        "has_interval": found.has_interval,
        "sure": found.sure.value,
    }


def _only_metric(sources: Sequence[Source]) -> str:
    names = shared_metrics([source.table for source in sources])
    if not names:
        raise InputError(f"{NO_QUALITY}: name one that all have with --metric COLUMN")
    held_out = [name for name in names if split_of(name) is DataSplit.HELD_OUT]
    for several in (held_out, names):
        if len(several) == 1:
            return several[0]
    raise UsageError(f"which quality is meant? Say with --metric: {', '.join((held_out or names)[:12])}")


def _direction(metric: str, better: str | None) -> Direction:
    if better is not None:
        try:
            return Direction(better.lower())
        except ValueError:
            raise UsageError(f"--better {better} is unknown: say lower or higher") from None
    told = direction_of(metric)
    if told is None:
        raise UsageError(
            f"the name {metric!r} does not tell which way it gets better: say --better lower or --better higher"
        )
    return told


def _cost(sources: Sequence[Source], cost: str | None) -> CostAxis | str:
    if cost is not None:
        return next((axis for axis in CostAxis if axis.value == cost.lower()), cost)
    axes = axes_of(sources)
    if not axes:
        raise UsageError(f"{NO_COST}: name one that holds a running total with --cost COLUMN")
    return axes[0]
