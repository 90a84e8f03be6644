"""What a comparison by quality against cost says in words, and its parts as tables and charts show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...advisor.compare.costs import CostAxis
from ...advisor.compare.curve_fairness import Check, Standing
from ...advisor.compare.curves import Direction
from ...advisor.compare.methods import Band, band
from ...advisor.compare.quality_cost import EndPoint, MethodResult, QualityComparison, Spread
from ...advisor.compare.speedups import MIN_SEEDS, Outcome, Speedup, SpeedupCurve, Sure
from . import format as text
from .diagnosis import Tone

#: At most so many methods in a chart; a table has all.
MAX_LINES = 8
#: Trainings whose ends lie within this ratio ended at one cost.
SAME_END = 1.01
_LESS = {
    CostAxis.STEPS: "fewer steps",
    CostAxis.EPOCHS: "fewer epochs",
    CostAxis.SAMPLES: "fewer samples",
    CostAxis.TOKENS: "fewer tokens",
    CostAxis.SECONDS: "less time",
    CostAxis.FLOPS: "fewer FLOPs",
    CostAxis.ENERGY: "less energy",
}


@dataclass(frozen=True)
class Headline:
    """The outcome in a word or two, in a sentence, and how it reads at a glance."""

    label: str
    sentence: str
    tone: Tone


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


def headline(comparison: QualityComparison) -> Headline:
    """One sentence: what is cheaper by how much, no evidence, or why there is no number."""
    if comparison.forbidding:
        return Headline(
            "no fair comparison", f"No headline number: {check_words(comparison.forbidding[0])}", Tone.CONCERN
        )
    if len(comparison.results) < 2:
        return Headline(
            "one method",
            "There is one method only: add trainings of another one to compare with.",
            Tone.UNKNOWN,
        )
    if comparison.target is None:
        return Headline(
            "cannot be compared",
            "There is no quality that every method reaches: name a target that some of them reach.",
            Tone.UNKNOWN,
        )
    asked = any(check.standing is Standing.ASKED for check in comparison.checks)
    return _with_reserve(_outcome(comparison, comparison.target), asked=asked)


def table(comparison: QualityComparison) -> tuple[dict[str, str], ...]:
    """One row per method."""
    return tuple(_row(comparison, result) for result in comparison.results)


def cost(value: float, axis: CostAxis | str) -> str:
    """An amount of cost with its unit."""
    match axis:
        case CostAxis.SECONDS:
            return text.duration(value)
        case CostAxis.FLOPS | CostAxis.ENERGY:
            return text.amount(value, axis.unit)
        case CostAxis():
            return f"{text.large(value)} {axis.unit}"
        case _:
            return f"{text.large(value)} {axis}"


def cost_title(axis: CostAxis | str) -> str:
    """The title of a cost axis."""
    match axis:
        case CostAxis.FLOPS:
            return "FLOP"
        case CostAxis.ENERGY:
            return "energy, J"
        case CostAxis():
            return axis.value
        case _:
            return axis


def quality(value: float) -> str:
    """A quality as its file has it, to four digits."""
    return f"{value:.4g}"


def speedup(found: Speedup | None) -> str:
    """A speed-up with its interval."""
    if found is None:
        return ""
    return f"{_times(found)} ({interval(found)})"


def _times(found: Speedup) -> str:
    words = text.times(found.median)
    return words if found.sure is Sure.EXACT else f"{found.sure.value} {words}"


def interval(found: Speedup) -> str:
    """The interval in words; a side that is not bounded says so."""
    if not found.has_interval:
        return "single run"
    match found.low, found.high:
        case None, None:
            return "not bounded"
        case None, high:
            return f"up to {text.times(high or 0.0)}"
        case low, None:
            return f"{text.times(low)} or more"
        case low, high:
            return f"{text.times(low)} to {text.times(high)}"


def whole_range(found: SpeedupCurve | None) -> str:
    """Least and greatest speed-up over all qualities that both reach."""
    if found is None:
        return ""
    medians = [one.median for one in found.speedups]
    return f"{text.times(min(medians))} to {text.times(max(medians))}"


def spread(found: Spread) -> str:
    """A quality over seeds: its median, and from where to where."""
    if found.median is None:
        return text.unavailable("most seeds have none")
    if found.low is None or found.high is None or found.low == found.high:
        return quality(found.median)
    return f"{quality(found.median)} ({quality(found.low)} to {quality(found.high)})"


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
        return f"never reached ({result.reached} of {seeds} seeds did)" if result.reached else "never reached"
    words = cost(found.median, axis)
    if result.at_first:
        words = f"at most {words}"
    if result.reached < seeds:
        return f"{words} ({result.reached} of {seeds} seeds reached it)"
    return words


def _outcome(comparison: QualityComparison, target: float) -> Headline:
    others = comparison.results[1:]
    cheaper = [one for one in others if one.outcome is Outcome.CHEAPER and one.speedup is not None]
    aim = f"{comparison.question.metric} {quality(target)}"
    if cheaper:
        best = max(cheaper, key=lambda one: one.speedup.median if one.speedup else 0.0)
        assert best.speedup is not None
        much = f"{_times(best.speedup)} {_less(comparison.question.cost)}"
        return Headline(
            "cheaper",
            f"{best.method.name} reaches {aim} with {much} than {comparison.baseline} ({interval(best.speedup)}).",
            Tone.HEALTHY,
        )
    only = [one for one in others if one.outcome is Outcome.ONLY_ONE]
    if only:
        names = ", ".join(one.method.name for one in only)
        return Headline(
            "reached",
            f"{names}: reaches {aim}, {comparison.baseline} never does.",
            _claimed(only, Tone.HEALTHY),
        )
    if all(one.outcome in (Outcome.COSTLIER, Outcome.NEVER_REACHED) for one in others):
        return Headline("costlier", _costlier(comparison, others, aim), Tone.PROBLEM)
    return Headline("no evidence", _no_evidence(comparison, aim), Tone.UNKNOWN)


def _claimed(results: Sequence[MethodResult], tone: Tone) -> Tone:
    return tone if all(len(one.method.runs) >= MIN_SEEDS for one in results) else Tone.UNKNOWN


def _costlier(comparison: QualityComparison, others: Sequence[MethodResult], aim: str) -> str:
    measured = [one for one in others if one.speedup is not None]
    if not measured:
        return f"Only {comparison.baseline} reaches {aim}."
    best = max(measured, key=lambda one: one.speedup.median if one.speedup else 0.0)
    assert best.speedup is not None
    return (
        f"{best.method.name} needs {text.times(1 / best.speedup.median)} the cost of {comparison.baseline} to reach "
        f"{aim} (speed-up {interval(best.speedup)})."
    )


def _no_evidence(comparison: QualityComparison, aim: str) -> str:
    few = any(len(one.method.runs) < MIN_SEEDS for one in comparison.results)
    why = f": nothing is claimed with fewer than {MIN_SEEDS} seeds a method" if few else ""
    _, *others = comparison.results
    what = "another method" if len(others) > 1 else others[0].method.name
    return f"No evidence that {what} needs less or more than {comparison.baseline} to reach {aim}{why}."


def _less(axis: CostAxis | str) -> str:
    return _LESS[axis] if isinstance(axis, CostAxis) else f"less {axis}"


def _with_reserve(found: Headline, *, asked: bool) -> Headline:
    if not asked or found.tone is Tone.UNKNOWN:
        return found
    return Headline(
        found.label, f"{found.sentence[:-1]}, if the answer to what is asked below is yes.", found.tone
    )


def check_words(check: Check) -> str:
    """A check in words, with the answer that was given."""
    match check.answer:
        case None:
            return check.sentence
        case True:
            return f"{check.sentence} You said yes."
        case False:
            return f"{check.sentence} You said no."
