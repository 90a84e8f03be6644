"""What the deep window cost a run, in words; it holds no more than one sentence."""

from __future__ import annotations

from ...profiler.report import RecorderCost
from . import format as text


def window_cost(cost: RecorderCost) -> str | None:
    """One clause, to be put after "the deep window"; None where there was none."""
    window = cost.deep_window
    if window is None:
        return None
    steps = f"its {text.count(window.steps, 'step')} took {text.duration(window.mean_step_s)} each"
    timed = f"{text.duration(window.timed_step_s)} of a timed one"
    apart = text.duration(window.opening_s + window.closing_s)
    return f"took {apart} to open and close, and {steps}, against {timed}; none of that is in the timing"
