"""The launch queue and the memory curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.timeline.intervals import one
from trainrx.profiler.timeline.memory import POINTS, highest_of_each_stretch, memory_curve
from trainrx.profiler.timeline.queue import launch_queue

Read = Callable[..., Trace]


def test_delay_and_depth_of_the_queue(script: Any, read: Read) -> None:
    script.launch(0, 10, 20, number=1).launch(10, 40, 100, number=2)
    queue = launch_queue(read(script), one(0, 100_000))
    assert queue is not None
    assert queue.linked == 2
    assert queue.delay_median_us == 20.0
    assert queue.mean_depth == (20 + 90) / 100


def test_no_links_no_queue(script: Any, read: Read) -> None:
    assert launch_queue(read(script.device("kernel", "gemm", 0, 10)), one(0, 10_000)) is None


def test_the_curve_keeps_the_peak_when_thinned(script: Any, read: Read) -> None:
    script.host("cpu_op", "aten::empty", 0, 2000)
    for place in range(2000):
        total = 10**9 if place == 1234 else place
        args = {
            "Device Type": 1,
            "Device Id": 0,
            "Bytes": 1,
            "Total Allocated": total,
            "Total Reserved": 2 * 10**9,
        }
        script.events.append({"ph": "i", "name": "[memory]", "ts": place, "pid": 1, "tid": 1, "args": args})
    curve = memory_curve(read(script).memory)
    assert curve is not None
    assert len(curve.time_s) == POINTS
    assert curve.peak_allocated_bytes == 10**9 == int(curve.allocated_bytes.max())
    assert curve.peak_reserved_bytes == 2 * 10**9
    assert not curve.relative


def test_a_file_without_totals_gives_a_relative_curve(script: Any, read: Read) -> None:
    script.host("cpu_op", "aten::empty", 0, 10)
    for place, size in enumerate((100, 50, -100)):
        args = {"Device Type": 1, "Device Id": 0, "Bytes": size}
        script.events.append({"ph": "i", "name": "[memory]", "ts": place, "pid": 1, "tid": 1, "args": args})
    curve = memory_curve(read(script).memory)
    assert curve is not None
    assert curve.relative
    assert curve.peak_reserved_bytes is None
    assert curve.allocated_bytes.tolist() == [100, 150, 50]


def test_host_allocations_are_no_device_curve(script: Any, read: Read) -> None:
    script.host("cpu_op", "aten::empty", 0, 10)
    args = {"Device Type": 0, "Device Id": -1, "Bytes": 8}
    script.events.append({"ph": "i", "name": "[memory]", "ts": 1, "pid": 1, "tid": 1, "args": args})
    assert memory_curve(read(script).memory) is None


def test_few_values_are_all_kept() -> None:
    assert highest_of_each_stretch(np.array([3, 1, 2]), 5).tolist() == [0, 1, 2]
