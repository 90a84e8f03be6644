"""Turns evidence, expectations and placements into sentences, the same for command line, dashboard and reports.

A gain is never written as a bare multiplier: task, hardware (or "not stated"), source and grade always stand with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from .method import Evidence, Expectation, Method, Placement
from .vocabulary import Direction, Equivalence, GainKind, Grade, Risk

NOT_STATED = "not stated"

GRADE_MEANINGS: Mapping[Grade, str] = MappingProxyType(
    {
        Grade.A: "at least 3 repeats with a test, or a public log",
        Grade.B: "a documented number with hardware or configuration",
        Grade.C: "a number or statement without configuration, or recalled from an abstract",
        Grade.N: "negative or null: the promised gain did not come, or its price ate it",
    }
)

GAIN_MEANINGS: Mapping[GainKind, str] = MappingProxyType(
    {
        GainKind.TIME_TO_QUALITY: "time to the same quality, before / after",
        GainKind.STEP_TIME: "step time, before / after",
        GainKind.THROUGHPUT: "throughput, after / before",
        GainKind.MEMORY: "memory, before / after",
        GainKind.STEPS_TO_QUALITY: "steps to the same quality, before / after",
        GainKind.FLOPS: "FLOPs, before / after",
    }
)

#: What a ratio above 1 is called, and the inverse of one below.
GAIN_WORDS: Mapping[GainKind, tuple[str, str]] = MappingProxyType(
    {
        GainKind.TIME_TO_QUALITY: ("faster (time to quality)", "slower (time to quality)"),
        GainKind.STEP_TIME: ("faster (step time)", "slower (step time)"),
        GainKind.THROUGHPUT: ("faster (throughput)", "slower (throughput)"),
        GainKind.MEMORY: ("less memory", "more memory"),
        GainKind.STEPS_TO_QUALITY: ("fewer steps to quality", "more steps to quality"),
        GainKind.FLOPS: ("fewer FLOPs", "more FLOPs"),
    }
)

EQUIVALENCE_MEANINGS: Mapping[Equivalence, str] = MappingProxyType(
    {
        Equivalence.EXACT: "the same mathematics: losses must stay the same",
        Equivalence.NUMERICAL: "other rounding: losses must stay within rounding noise",
        Equivalence.SEMANTIC: "learns differently: judge it on quality against cost, not on step time alone",
    }
)

RISK_MEANINGS: Mapping[Risk, str] = MappingProxyType(
    {
        Risk.NONE: "exact, or usually helps quality",
        Risk.LOW: "a small loss, or light tuning needed",
        Risk.MEDIUM: "known losses in some settings",
        Risk.HIGH: "not fit for a production target today",
    }
)


def gain_sentence(row: Evidence) -> str:
    """The whole claim of a row: ratio with its kind, task, model, hardware, baseline, grade and source."""
    return (
        f"{ratio_words(row)}; task: {_or_not_stated(row.task)}; model: {_or_not_stated(row.model)}; "
        f"hardware: {_or_not_stated(row.hardware)}; against: {_or_not_stated(row.baseline)}; "
        f"grade {row.grade}; source: {source_words(row)}"
    )


def ratio_words(row: Evidence) -> str:
    """The ratio with what it is a ratio of. Only for places where the row's context stands beside it."""
    if row.gain is None:
        return f"no ratio given ({row.gain_kind})"
    better, worse = GAIN_WORDS[row.gain_kind]
    if row.gain == 1:
        return f"no change ({str(row.gain_kind).replace('-', ' ')})"
    return f"{_ratio(row.gain)}× {better}" if row.gain > 1 else f"{_ratio(1 / row.gain)}× {worse}"


def _ratio(gain: float) -> str:
    """Three digits, and a fourth near 1, where it decides whether there is a gain at all."""
    return f"{gain:.4g}" if abs(gain - 1) < 0.05 else f"{gain:.3g}"


def source_words(row: Evidence) -> str:
    """The source as people cite it, with the year where it is known."""
    name = f"arXiv {row.source}" if _ARXIV.fullmatch(row.source) else row.source
    return name if row.year is None else f"{name}, {row.year}"


_ARXIV = re.compile(r"\d{4}\.\d{4,5}")
_THREAD = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+?)(?:@\w+)?(?:[: ].*)?")


def source_url(source: str) -> str | None:
    """Where a source can be opened: the paper, the thread or the repository; None for names of pages."""
    if _ARXIV.fullmatch(source):
        return f"https://arxiv.org/abs/{source}"
    thread = _THREAD.match(source)
    if thread:
        return f"https://github.com/{thread[1]}/issues/{thread[2]}"
    repository = _REPOSITORY.fullmatch(source)
    if repository is None or "." in repository[1].partition("/")[0]:
        return None
    return f"https://github.com/{repository[1]}"


def verdict_words(row: Evidence) -> str:
    """What a row is: a gain, a known price, or an honest negative."""
    if row.is_negative:
        return "negative"
    return "price" if row.is_price else "gain"


def expectation_sentence(expected: Expectation) -> str:
    """What must move for the method to count as working."""
    verb = "fall" if expected.direction is Direction.FALLS else "rise"
    least = f"{expected.at_least:.0%}".replace("%", " %")
    return f"{expected.metric.label} must {verb} by at least {least}"


def guard_sentence(method: Method) -> str:
    """What must not move, by how far the method leaves the learning alone."""
    return f"{method.equivalence}: {EQUIVALENCE_MEANINGS[method.equivalence]}"


def cell_words(placement: Placement) -> str:
    """The method's cell in the first taxonomy."""
    action = placement.action or "no effect on what is learned"
    return f"{placement.component}.{placement.subcomponent} × {action}"


def group_words(placement: Placement) -> str:
    """The method's place in the second taxonomy."""
    return f"{placement.category} / {placement.subcategory}"


def placed_by_words(method: Method) -> str:
    """Who placed the method: "the survey says" only where a passage was read."""
    if method.sure.placement == "survey":
        return "the survey says so for the second taxonomy; the first is our reading"
    return "both placements are our reading of the surveys"


def evidence_words(method: Method) -> str:
    """How well the method is backed, in one line."""
    if not method.evidence:
        return method.no_evidence or "no published effect of it is known to us"
    negatives = len(method.negatives)
    rows = len(method.evidence)
    tail = f", {negatives} of them negative" if negatives else ""
    return f"{rows} evidence row{'s' if rows > 1 else ''}{tail}"


def _or_not_stated(text: str | None) -> str:
    return text or NOT_STATED
