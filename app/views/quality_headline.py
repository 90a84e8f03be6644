"""The sentence on top of a comparison by quality against cost.

It names one quality, the target; where the answer is another one at other qualities it says so, and where a serious
rule is broken it holds no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...advisor.compare.costs import CostAxis
from ...advisor.compare.curve_fairness import Standing
from ...advisor.compare.quality_cost import MethodResult, QualityComparison
from ...advisor.compare.speedups import MIN_SEEDS, PRACTICAL_RATIO, Outcome, Speedup
from . import format as text
from .diagnosis import Tone
from .quality_words import check_words, interval, quality, times_of, whole_range

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


def _outcome(comparison: QualityComparison, target: float) -> Headline:
    others = comparison.results[1:]
    aim = f"{comparison.question.metric} {quality(target)}"
    cheapest = _best(one for one in others if one.outcome is Outcome.CHEAPER)
    if cheapest is not None:
        return _cheaper(comparison, *cheapest, aim)
    enough = all(_enough(one) for one in comparison.results)
    only = [one for one in others if one.outcome is Outcome.ONLY_ONE and enough]
    if only:
        names = ", ".join(one.method.name for one in only)
        lacking = _lacking(comparison.results[0])
        return Headline("reached", f"{names}: reaches {aim}, {comparison.baseline} {lacking}.", Tone.HEALTHY)
    if enough and all(one.outcome in (Outcome.COSTLIER, Outcome.NEVER_REACHED) for one in others):
        return _costlier(comparison, aim)
    return Headline("no evidence", _no_evidence(comparison, aim), Tone.UNKNOWN)


def _best(results: Iterable[MethodResult]) -> tuple[MethodResult, Speedup] | None:
    """The method with the greatest speed-up; None where none has one."""
    measured = [(one, one.speedup) for one in results if one.speedup is not None]
    return max(measured, key=lambda pair: pair[1].median, default=None)


def _enough(result: MethodResult) -> bool:
    """Whether there are seeds enough to claim something of a method."""
    return len(result.method.runs) >= MIN_SEEDS


def _lacking(result: MethodResult) -> str:
    """How far a method is from reaching a target that most of its seeds do not reach."""
    return f"in {result.reached} of {len(result.method.runs)} seeds only" if result.reached else "never does"


def _cheaper(comparison: QualityComparison, best: MethodResult, found: Speedup, aim: str) -> Headline:
    much = f"{times_of(found)} {_less(comparison.question.cost)}"
    sentence = f"{best.method.name} reaches {aim} with {much} than {comparison.baseline} ({interval(found)})"
    if any(one.median <= 1 / PRACTICAL_RATIO for one in _along(best)):
        return Headline(
            "cheaper there, not everywhere",
            f"{sentence}; over all qualities speed-ups range from {whole_range(best.speedups)}.",
            Tone.CONCERN,
        )
    return Headline("cheaper", f"{sentence}.", Tone.HEALTHY)


def _costlier(comparison: QualityComparison, aim: str) -> Headline:
    best = _best(comparison.results[1:])
    if best is None:
        most = " in most seeds" if any(one.reached for one in comparison.results[1:]) else ""
        return Headline("costlier", f"Only {comparison.baseline} reaches {aim}{most}.", Tone.PROBLEM)
    result, found = best
    sentence = (
        f"{result.method.name} needs {text.times(1 / found.median)} the cost of {comparison.baseline} to reach {aim} "
        f"(speed-up {interval(found)})"
    )
    if any(one.median >= PRACTICAL_RATIO for one in _along(result)):
        return Headline(
            "costlier there, not everywhere",
            f"{sentence}; over all qualities speed-ups range from {whole_range(result.speedups)}.",
            Tone.CONCERN,
        )
    return Headline("costlier", f"{sentence}.", Tone.PROBLEM)


def _along(result: MethodResult) -> Sequence[Speedup]:
    """The speed-ups at all qualities that the method and the baseline reach."""
    return () if result.speedups is None else result.speedups.speedups


def _no_evidence(comparison: QualityComparison, aim: str) -> str:
    few = not all(_enough(one) for one in comparison.results)
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
        found.label, f"{found.sentence[:-1]}, provided the open questions below are answered yes.", found.tone
    )
