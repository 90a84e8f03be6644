"""What a comparison says in words."""

from __future__ import annotations

from ...advisor.compare.runs import Comparison, Outcome
from .format import times


def headline(comparison: Comparison) -> str:
    """One sentence: faster, slower, no evidence, or why there is no number."""
    serious = [breach for breach in comparison.breaches if breach.serious]
    if serious:
        return f"No headline number: these runs break the rule “{serious[0].rule}” ({serious[0].detail})."
    ratio = comparison.ratio
    if ratio is None:
        return f"These runs cannot be compared: {comparison.reason}."
    what = "a sample" if ratio.per_sample else "a step"
    interval = f"{times(ratio.low)} to {times(ratio.high)}" if ratio.low < ratio.high else "no interval"
    match comparison.outcome:
        case Outcome.FASTER:
            return f"The second run takes {what} {times(ratio.median)} as fast ({interval})."
        case Outcome.SLOWER:
            return f"The second run takes {what} {times(1 / ratio.median)} as long ({interval} as fast)."
        case _:
            return f"No evidence of a difference: {times(ratio.median)} as fast ({interval})."
