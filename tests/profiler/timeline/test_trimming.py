"""Cutting a trace down to steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from trainrx.profiler.errors import UsageError
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.timeline.trace_steps import find_steps
from trainrx.profiler.timeline.trimming import span_of_steps, trim

Read = Callable[..., Trace]


def test_device_work_that_a_step_launched_comes_along(script: Any, read: Read) -> None:
    # GIVEN two steps, the first of which launches a kernel that runs in the second
    script.step(1, 0, 100).step(2, 100, 200)
    script.launch(50, 150, 160, number=1).launch(120, 170, 180, number=2)
    trace = read(script)
    # WHEN the first step is cut out
    cut = trim(trace, *span_of_steps(find_steps(trace), 1, 1, source="x"))
    # THEN its mark, its call and its kernel are there, and nothing of the second step
    assert len(cut.host) == 2
    assert cut.device.correlation.tolist() == [1]


def test_asking_for_steps_that_are_not_there_names_those_that_are(script: Any, read: Read) -> None:
    steps = find_steps(read(script.step(3, 0, 10).step(4, 10, 20)))
    with pytest.raises(UsageError, match="steps 3 to 4, none of 7 to 9"):
        span_of_steps(steps, 7, 9, source="t.json")


def test_a_trace_without_steps_cannot_be_cut(script: Any, read: Read) -> None:
    steps = find_steps(read(script.host("cpu_op", "aten::mm", 0, 10)))
    with pytest.raises(UsageError, match="marks no steps"):
        span_of_steps(steps, 1, 2, source="t.json")
