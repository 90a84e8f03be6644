"""What a comparison by quality against cost says in words, and its parts as tables and charts show them."""

from __future__ import annotations

from dataclasses import dataclass

from ...advisor.compare.costs import CostAxis
from ...advisor.compare.curve_fairness import Check, Standing
from ...advisor.compare.curves import Direction
from ...advisor.compare.methods import Band, band
from ...advisor.compare.quality_cost import EndPoint, MethodResult, QualityComparison
from ...advisor.compare.speedups import SpeedupCurve
from .quality_headline import Headline, headline
from .quality_words import cost, cost_title, quality, speedup, spread, whole_range

#: At most so many methods in a chart; a table has all.
MAX_LINES = 8
#: Trainings whose ends lie within this ratio ended at one cost.
SAME_END = 1.01


@dataclass(frozen=True, eq=False)
class Line:
    """One method in the charts.

    Attributes:
        place: 0 for the baseline; tells its colour.
        speedups: against the baseline; None for the baseline, or where no quality is shared.
        words: the method's row, for screen readers.
    """

    name: str
    place: int
    band: Band
    speedups: SpeedupCurve | None
    words: str


@dataclass(frozen=True, eq=False)
class QualityView:
    """Methods side by side.

    Attributes:
        rows: a table, ready to be shown; the baseline first.
        left_out: methods that charts do not show.
        cost_title, metric: titles of the axes.
        target_words: None where there is no target.
        checks: broken rules first, then questions, then what is kept.
    """

    headline: Headline
    rows: tuple[dict[str, str], ...]
    lines: tuple[Line, ...]
    left_out: tuple[str, ...]
    ends: tuple[EndPoint, ...]
    metric: str
    direction: Direction
    cost_title: str
    target: float | None
    target_words: str | None
    checks: tuple[Check, ...]


def quality_view(comparison: QualityComparison, *, raw: bool = False) -> QualityView:
    """The view of a comparison; with ``raw`` curves are drawn as logged, not as best so far."""
    question = comparison.question
    shown = comparison.results[:MAX_LINES]
    order = {Standing.BROKEN: 1, Standing.ASKED: 2, Standing.KEPT: 3}
    return QualityView(
        headline=headline(comparison),
        rows=table(comparison),
        lines=tuple(
            Line(
                result.method.name, place, band(result.method.curves, raw=raw), result.speedups,
                "; ".join(f"{name} {value}" for name, value in _row(comparison, result).items() if value),
            )
            for place, result in enumerate(shown)
        ),
        left_out=tuple(result.method.name for result in comparison.results[MAX_LINES:]),
        ends=comparison.ends,
        metric=question.metric,
        direction=question.direction,
        cost_title=cost_title(question.cost),
        target=comparison.target,
        target_words=None if comparison.target is None else quality(comparison.target),
        checks=tuple(sorted(comparison.checks, key=lambda one: (0 if one.forbids else order[one.standing]))),
    )  # fmt: skip


def table(comparison: QualityComparison) -> tuple[dict[str, str], ...]:
    """One row per method."""
    return tuple(_row(comparison, result) for result in comparison.results)


def _row(comparison: QualityComparison, result: MethodResult) -> dict[str, str]:
    question = comparison.question
    target = "the target" if comparison.target is None else quality(comparison.target)
    is_baseline = result is comparison.results[0]
    return {
        "method": result.method.name,
        "seeds": _seeds(result),
        f"best {question.metric}": spread(result.best),
        **_at_equal_cost(comparison, result),
        f"cost to {target}": _cost_to_target(result, question.cost),
        "speed-up": "baseline" if is_baseline else speedup(result.speedup),
        "over the whole range": whole_range(result.speedups),
        "outcome": "" if result.outcome is None else result.outcome.value,
    }  # fmt: skip


def _at_equal_cost(comparison: QualityComparison, result: MethodResult) -> dict[str, str]:
    """Left out where all trainings ended there: it would be the best quality again."""
    ends = [one.end_cost for other in comparison.results for one in other.method.curves]
    if max(ends) <= comparison.equal_cost * SAME_END:
        return {}
    return {f"at {cost(comparison.equal_cost, comparison.question.cost)}": spread(result.at_equal_cost)}


def _seeds(result: MethodResult) -> str:
    count = str(len(result.method.runs))
    return f"{count}, {result.diverged} diverged" if result.diverged else count


def _cost_to_target(result: MethodResult, axis: CostAxis | str) -> str:
    found, seeds = result.cost_to_target, len(result.method.runs)
    if found.median is None:
        return f"reached by {result.reached} of {seeds} seeds only" if result.reached else "never reached"
    words = cost(found.median, axis)
    if result.at_first:
        words = f"at most {words}"
    if result.reached < seeds:
        return f"{words} ({result.reached} of {seeds} seeds reached it)"
    return words
