"""Costs, qualities, speed-ups and rules of a comparison by quality against cost, as people read them."""

from __future__ import annotations

from ...advisor.compare.costs import CostAxis
from ...advisor.compare.curve_fairness import Check
from ...advisor.compare.quality_cost import Spread
from ...advisor.compare.speedups import Speedup, SpeedupCurve, Sure
from . import format as text


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
    return f"{times_of(found)} ({interval(found)})"


def times_of(found: Speedup) -> str:
    """A speed-up without its interval; one that is only bounded says so."""
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


def check_words(check: Check) -> str:
    """A check in words, with the answer that was given."""
    match check.answer:
        case None:
            return check.sentence
        case True:
            return f"{check.sentence} You said yes."
        case False:
            return f"{check.sentence} You said no."
