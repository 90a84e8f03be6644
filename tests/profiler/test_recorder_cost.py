"""What the deep window cost, from made recordings."""

from __future__ import annotations

from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.recorder_cost import NO_WINDOW, recorder_cost
from trainrx.profiler.timeline.steps import find_steps

MS = 1_000_000
TOLD = {"deep_window": [{"opening_s": 0.25, "closing_s": 0.75}]}
#: One step of warm-up, four timed, two under the profiler, one whose operations were counted.
STEPS = [
    *((layout.STEP, at * 100 * MS, (at + 1) * 100 * MS, 1) for at in range(5)),
    (layout.STEP_TRACED, 750 * MS, 900 * MS, 1),
    (layout.STEP_TRACED, 900 * MS, 1100 * MS, 1),
    (layout.STEP_TRACED, 1850 * MS, 2850 * MS, 1),
]


def test_traced_steps_stand_beside_timed_ones(make_recording: Any) -> None:
    recording = make_recording(STEPS, facts=TOLD)
    cost = recorder_cost(recording, find_steps(recording, warmup=1))
    assert cost.deep_window_reason is None and cost.deep_window is not None
    expected = {"steps": 2, "mean_step_s": 0.175, "timed_step_s": 0.1, "opening_s": 0.25, "closing_s": 0.75}
    assert cost.deep_window.model_dump() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("steps", "facts"),
    [
        (STEPS, {}),  # a profiler of the script's own was active, and only operations were counted
        (STEPS[:5], TOLD),  # the script ended in the window's first step
        (STEPS[5:], TOLD),
        ([], TOLD),
        (STEPS, {"deep_window": [{"opening_s": "soon", "closing_s": [1]}]}),
    ],
)
def test_without_a_whole_window_there_is_a_reason(
    make_recording: Any, steps: list[Any], facts: dict[str, Any]
) -> None:
    recording = make_recording(steps, facts=facts)
    cost = recorder_cost(recording, find_steps(recording, warmup=1))
    assert (cost.deep_window, cost.deep_window_reason) == (None, NO_WINDOW)
