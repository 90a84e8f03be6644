"""Steps of a trace: marked by the profiler, or derived from the optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.timeline.rank_summary import summarise
from trainrx.profiler.timeline.trace_steps import find_steps
from trainrx.profiler.trace_report import stage_shares

Read = Callable[..., Trace]


def test_marked_steps_make_the_window(script: Any, read: Read) -> None:
    script.host("cpu_op", "aten::mm", 0, 500).step(3, 100, 200).step(4, 200, 310)
    steps = find_steps(read(script))
    assert steps.marked
    assert steps.number.tolist() == [3, 4]
    assert steps.window_ns == 210_000
    assert steps.thread is not None


def test_marks_of_a_second_thread_and_nested_marks_are_left_out(script: Any, read: Read) -> None:
    script.step(1, 0, 100).step(2, 100, 200).step(7, 110, 120)
    script.host("user_annotation", "ProfilerStep#1", 0, 90, thread=2)
    assert find_steps(read(script)).number.tolist() == [1, 2]


def test_without_marks_steps_lie_between_optimizer_steps_and_the_window_is_the_trace(
    script: Any, read: Read
) -> None:
    for end in (100, 250, 380):
        script.host("user_annotation", "Optimizer.step#SGD.step", end - 10, end)
    steps = find_steps(read(script.host("cpu_op", "aten::mm", 0, 400)))
    assert not steps.marked
    assert (steps.end_ns - steps.start_ns).tolist() == [150_000, 130_000]
    assert steps.window_ns == 400_000


def test_two_optimizers_that_step_in_turn_make_one_step(script: Any, read: Read) -> None:
    for end in (100, 200, 300):
        script.host("user_annotation", "Optimizer.step#Muon.step", end - 10, end)
        script.host("user_annotation", "Optimizer.step#AdamW.step", end, end + 1)
    steps = find_steps(read(script))
    assert (steps.end_ns - steps.start_ns).tolist() == [100_000, 100_000]


def test_stages_of_derived_steps_sum_to_a_step(script: Any, read: Read) -> None:
    # GIVEN ten optimizer steps 100 microseconds apart, within a trace of 1200
    script.host("cpu_op", "aten::mm", 0, 1200)
    for end in range(100, 1001, 100):
        script.host("user_annotation", "Optimizer.step#SGD.step", end - 10, end)
    # WHEN their stages are told
    stages = stage_shares(summarise(read(script)))
    # THEN they are those of a step, not of the whole trace
    assert sum(stage.seconds_per_step for stage in stages) == pytest.approx(100e-6)
    assert sum(stage.share for stage in stages) == pytest.approx(1)


def test_a_device_only_trace_has_no_steps_and_no_thread(script: Any, read: Read) -> None:
    steps = find_steps(read(script.device("kernel", "gemm", 0, 10)))
    assert len(steps) == 0
    assert steps.thread is None
    assert steps.window_ns == 10_000
