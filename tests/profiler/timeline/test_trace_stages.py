"""Exclusive host stages of a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.timeline.trace_stages import stage_sets
from trainrx.profiler.timeline.trace_steps import find_steps

Read = Callable[..., Trace]


def stages_us(trace: Trace) -> dict[str, int]:
    return {
        str(s): part.total_ns // 1000
        for s, part in stage_sets(trace, find_steps(trace)).items()
        if part.total_ns
    }


def test_a_training_step_is_split_by_its_marks(script: Any, read: Read) -> None:
    script.step(1, 0, 1000)
    script.host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 100)
    script.host("cpu_op", "aten::to", 100, 150)
    script.host("cuda_runtime", "cudaMemcpyAsync", 110, 140, correlation=1)
    script.device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 120, 160, correlation=1)
    script.host("cpu_op", "aten::conv2d", 150, 400)
    script.host("cpu_op", "autograd::engine::evaluate_function: ConvolutionBackward0", 400, 700, thread=2)
    script.host("user_annotation", "Optimizer.step#SGD.step", 720, 900)
    assert stages_us(read(script)) == {
        "data_wait": 100, "h2d": 30, "forward": 270, "backward": 300, "optimizer": 180, "host": 120,
    }  # fmt: skip


def test_stages_sum_to_the_window_even_when_marks_overlap(script: Any, read: Read) -> None:
    script.step(1, 0, 100)
    for name in (
        "## forward ##",
        "## backward ##",
        "## optimizer ##",
        "nccl:all_reduce",
        "## save_checkpoint",
    ):
        script.host("user_annotation", name, 10, 90)
    assert sum(stages_us(read(script)).values()) == 100


def test_bare_runtime_calls_tell_no_stages(script: Any, read: Read) -> None:
    assert stages_us(read(script.launch(0, 5, 10, number=1))) == {}
