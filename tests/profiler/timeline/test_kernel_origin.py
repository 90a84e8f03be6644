"""Kernel classes refined by the operator that launched the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.timeline.kernel_origin import refined
from trainrx.profiler.timeline.kernels import KINDS, device_kinds


def classes(trace: Trace) -> list[str]:
    return [str(KINDS[kind]) for kind in refined(trace, device_kinds(trace))]


def test_the_operator_tells_what_a_kernel_is_for(script: Any, read: Callable[..., Trace]) -> None:
    script.host("cpu_op", "aten::cudnn_convolution", 0, 20).launch(5, 100, 110, number=1, name="sgemm")
    script.host("user_annotation", "Optimizer.step#SGD.step", 20, 40)
    script.launch(25, 120, 130, number=2, name="vectorized_elementwise_kernel")
    script.launch(31, 140, 150, number=3, name="sgemm")
    script.launch(50, 160, 170, number=4, name="vectorized_elementwise_kernel")
    assert classes(read(script)) == ["convolution", "optimizer", "matmul", "elementwise"]


def test_an_operator_on_another_thread_tells_nothing(script: Any, read: Callable[..., Trace]) -> None:
    script.host("cpu_op", "aten::conv2d", 0, 20, thread=2).host("cpu_op", "aten::_convert_weight", 0, 20)
    script.launch(5, 100, 110, number=1, name="sgemm")
    assert classes(read(script)) == ["matmul"]


def test_without_links_names_stay_decisive(script: Any, read: Callable[..., Trace]) -> None:
    script.host("cpu_op", "aten::conv2d", 0, 20).device("kernel", "sgemm", 5, 10)
    assert classes(read(script)) == ["matmul"]
