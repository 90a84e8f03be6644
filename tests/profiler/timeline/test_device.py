"""The exclusive device view and the causes of idle time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from trainrx.profiler.ingest import building
from trainrx.profiler.ingest.columns import Trace, TraceInfo
from trainrx.profiler.timeline.device import DeviceView, device_view, has_device_activity, times_within
from trainrx.profiler.timeline.kernels import device_kinds
from trainrx.profiler.vocabulary import IdleCause

US = 1000
Read = Callable[..., Trace]


def view_of(trace: Trace) -> DeviceView:
    return device_view(trace, device_kinds(trace))


def causes_us(view: DeviceView) -> dict[str, int]:
    return {str(cause): part.total_ns // US for cause, part in view.causes.items() if part.total_ns}


def test_priority_is_compute_then_communication_then_copy(script: Any, read: Read) -> None:
    # GIVEN a copy under a collective under a kernel, each longer than the next
    script.device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 90, stream=1)
    script.device("kernel", "ncclDevKernel_AllReduce_Sum_f32", 0, 60, stream=2)
    script.device("kernel", "gemm", 0, 20, stream=3).host("cpu_op", "aten::mm", 0, 100)
    # WHEN the view is made
    view = view_of(read(script))
    # THEN each instant has the highest of them
    assert view.compute.total_ns == 20 * US
    assert view.communication.total_ns == 40 * US
    assert view.copy.total_ns == 30 * US
    assert view.idle.total_ns == 10 * US
    assert view.communication_busy.total_ns == 60 * US


def test_idle_in_the_loader_is_data(script: Any, read: Read) -> None:
    script.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 100)
    script.launch(100, 110, 150, number=1)
    assert causes_us(view_of(read(script))) == {"data": 100, "launch": 10}


def test_idle_while_the_host_issues_is_launch_and_between_is_host(script: Any, read: Read) -> None:
    script.launch(0, 5, 10, number=1)
    script.host("cpu_op", "aten::add", 20, 40)
    script.launch(50, 60, 70, number=2)
    # 0-5 launch; 10-20 host; 20-40 operator; 40-50 host; 50-60 launch
    assert causes_us(view_of(read(script))) == {"launch": 35, "host": 20}


def test_idle_from_a_drained_queue_to_the_next_launch_is_sync(script: Any, read: Read) -> None:
    script.launch(0, 0, 50, number=1)
    script.host("cuda_runtime", "cudaStreamSynchronize", 10, 55)
    script.launch(80, 90, 100, number=2)
    # the device drains at 50 while the host is blocked; nothing is launched before 80
    assert causes_us(view_of(read(script))) == {"sync": 30, "launch": 10}


def test_idle_without_host_rows_is_unknown(script: Any, read: Read) -> None:
    script.device("kernel", "gemm", 0, 10).device("kernel", "gemm", 30, 40)
    view = view_of(read(script))
    assert causes_us(view) == {"unknown": 20}


def test_a_trace_without_device_rows_has_no_activity(script: Any, read: Read) -> None:
    assert not has_device_activity(read(script.host("cpu_op", "aten::mm", 0, 10)))


SPANS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 60), st.integers(0, 3)), min_size=1, max_size=15
)
HOST_NAMES = ("aten::mm", "cudaLaunchKernel", "cudaDeviceSynchronize", "enumerate(DataLoader)#x")


def random_trace(device: list[tuple[int, int, int]], host: list[tuple[int, int, int]]) -> Trace:
    names = ("gemm", "ncclKernel_AllReduce", "Memcpy HtoD", "Memset", *HOST_NAMES)
    rows = {
        "start_ns": [s for s, _, _ in device],
        "end_ns": [s + d for s, d, _ in device],
        "name": [k for *_, k in device],
    }
    columns: dict[str, Any] = {key: np.array(value, dtype=np.int64) for key, value in rows.items()}
    columns["kind"] = np.array([[0, 0, 1, 2][k] for *_, k in device])
    for place, name in enumerate(
        (
            "device",
            "stream",
            "correlation",
            "external",
            "bytes",
            "graph",
            "waits_on_stream",
            "waits_on_correlation",
        )
    ):
        columns[name] = (
            np.arange(len(device)) if name == "correlation" else np.full(len(device), 0 if place < 2 else -1)
        )
    calls: dict[str, Any] = {
        "start_ns": np.array([s for s, _, _ in host], dtype=np.int64),
        "end_ns": np.array([s + d for s, d, _ in host], dtype=np.int64),
        "name": np.array([4 + k for *_, k in host], dtype=np.int64),
        "kind": np.array([[0, 2, 2, 1][k] for *_, k in host], dtype=np.int64),
        "thread": np.zeros(len(host), dtype=np.int64),
        "correlation": np.arange(len(host), dtype=np.int64),
        "external": np.full(len(host), -1),
        "sequence": np.full(len(host), -1),
    }
    return Trace(
        info=TraceInfo(source="x", format="x"),
        names=names,
        threads=(),
        host=building.host_spans(calls)[0],
        device=building.device_spans(columns)[0],
        flows=building.flows({name: np.zeros(0) for name in ("time_ns", "kind", "begins", "id", "thread")}),
        memory=building.memory_events(
            {n: np.zeros(0) for n in ("time_ns", "bytes", "allocated", "reserved", "device")}
        ),
        duration_ns=max(s + d for s, d, _ in [*device, *host]),
    )


@given(SPANS, SPANS | st.just([]), st.integers(0, 260), st.integers(0, 260))
def test_every_instant_counts_once(
    device: list[tuple[int, int, int]], host: list[tuple[int, int, int]], one: int, other: int
) -> None:
    trace = random_trace(device, host)
    view = view_of(trace)
    end = max(trace.duration_ns, 1)
    low, high = sorted((min(one, end), min(other, end)))
    times = times_within(view, np.array([0, low]), np.array([end, high]))
    parts = times.compute_ns + times.communication_ns + times.copy_ns + times.idle_ns
    assert parts.tolist() == times.window_ns.tolist()
    assert sum(times.causes_ns.values()).tolist() == times.idle_ns.tolist()  # type: ignore[union-attr]
    assert set(times.causes_ns) == set(IdleCause)
