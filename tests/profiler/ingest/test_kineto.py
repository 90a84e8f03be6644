"""Kineto traces of every age of the format."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.columns import ABSENT, DeviceKind, HostKind, Trace
from trainrx.profiler.ingest.kineto import read_kineto
from trainrx.profiler.timeline.rank_summary import summarise

KERNEL: dict[str, Any] = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 5}
OP: dict[str, Any] = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 8}


def read(tmp_path: Path, document: Any) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_kineto(path)


def test_current_events_become_columns(tmp_path: Path) -> None:
    args = {"device": 2, "stream": 9, "correlation": 33, "External id": 4, "graph id": 6}
    trace = read(tmp_path, {"traceEvents": [OP | {"args": {"Sequence number": 5}}, KERNEL | {"args": args}]})
    assert [trace.names[n] for n in trace.host.name] == ["aten::mm"]
    assert trace.host.sequence.tolist() == [5]
    assert trace.host.correlation.tolist() == [ABSENT]
    assert trace.device.start_ns.tolist() == [10_000]
    assert trace.device.end_ns.tolist() == [15_000]
    assert [int(getattr(trace.device, n)[0]) for n in ("device", "stream", "correlation", "external", "graph")] == [
        2, 9, 33, 4, 6,
    ]  # fmt: skip


def test_a_bare_list_is_a_trace(tmp_path: Path) -> None:
    assert len(read(tmp_path, [OP, KERNEL]).host) == 1


def test_categories_of_2021_and_streams_in_text(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        {
            "traceEvents": [
                {
                    "ph": "X",
                    "cat": "Operator",
                    "name": "ProfilerStep#5",
                    "pid": 1,
                    "tid": "1",
                    "ts": 0,
                    "dur": 99,
                },
                {
                    "ph": "X",
                    "cat": "Runtime",
                    "name": "cudaLaunchKernel",
                    "pid": 1,
                    "tid": "1",
                    "ts": 1,
                    "dur": 1,
                },
                {"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 5, "dur": 1},
                {
                    "ph": "X",
                    "cat": "Memcpy",
                    "name": "Memcpy HtoD",
                    "pid": 0,
                    "tid": "stream 8",
                    "ts": 9,
                    "dur": 1,
                },
                {
                    "ph": "X",
                    "cat": "Memset",
                    "name": "Memset",
                    "pid": 0,
                    "tid": "stream 8",
                    "ts": 11,
                    "dur": 1,
                },
            ]
        },
    )
    assert trace.host.kind.tolist() == [HostKind.ANNOTATION, HostKind.RUNTIME]
    assert trace.device.kind.tolist() == [DeviceKind.KERNEL, DeviceKind.MEMCPY, DeviceKind.MEMSET]
    assert trace.device.stream.tolist() == [7, 8, 8]
    assert len(trace.threads) == 1


def test_events_without_category_are_told_apart_by_process(tmp_path: Path) -> None:
    event = {"ph": "X", "name": "x", "ts": 0, "dur": 1, "tid": 1}
    trace = read(tmp_path, [event | {"pid": "CPU functions"}, event | {"pid": "CUDA functions"}])
    assert (len(trace.host), len(trace.device)) == (1, 1)


def test_integers_beyond_64_bits_are_absent_and_cost_nothing_else(tmp_path: Path) -> None:
    big = 10**30
    trace = read(
        tmp_path, [OP | {"args": {"Comms Id": big}}, KERNEL | {"args": {"correlation": big, "bytes": big}}]
    )
    assert trace.device.correlation.tolist() == [ABSENT]
    assert trace.device.bytes.tolist() == [ABSENT]


def test_nan_and_infinity_are_read_as_missing(tmp_path: Path) -> None:
    text = json.dumps([OP, KERNEL | {"args": {"est. achieved occupancy %": 1}}]).replace(": 1}", ": NaN}", 1)
    trace = read(tmp_path, text.replace('"tid": 7', '"tid": -inf'))
    assert len(trace.device) == 1
    assert trace.device.stream.tolist() == [ABSENT]


def test_a_trace_of_2026_keeps_nanoseconds(tmp_path: Path) -> None:
    head = {"baseTimeNanoseconds": 10**18, "displayTimeUnit": "ms"}
    trace = read(
        tmp_path, head | {"traceEvents": [OP | {"ts": 4458677009853.422}, KERNEL | {"ts": 4458677009860.001}]}
    )
    assert trace.device.start_ns.tolist() == [6579]
    assert trace.info.origin_ns == 10**18 + 4458677009853422


def test_rank_device_and_versions_come_from_the_head_and_the_tail(tmp_path: Path) -> None:
    head = {"distributedInfo": {"rank": 3, "world_size": 8, "backend": "nccl", "nccl_version": "2.17.1"}}
    tail = {
        "deviceProperties": [
            {"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 5, "computeMajor": 9, "computeMinor": 0}
        ]
    }
    trace = read(tmp_path, head | {"traceEvents": [KERNEL]} | tail | {"cuda_runtime_version": 12040})
    assert (trace.info.rank, trace.info.world_size, trace.info.backend) == (3, 8, "nccl")
    assert trace.info.devices[0].compute_capability == (9, 0)
    assert trace.info.vendor == "NVIDIA"
    assert trace.info.versions == {"cuda_runtime_version": "12040"}


def test_threads_have_their_names(tmp_path: Path) -> None:
    name = {
        "ph": "M",
        "name": "thread_name",
        "pid": 1,
        "tid": 1,
        "ts": 0,
        "args": {"name": "thread 1 (python)"},
    }
    assert read(tmp_path, [OP, name]).threads[0].label == "thread 1 (python)"


def test_equal_starts_put_the_parent_first(tmp_path: Path) -> None:
    trace = read(tmp_path, [OP | {"name": "child", "dur": 2}, OP | {"name": "parent", "dur": 20}])
    assert [trace.names[n] for n in trace.host.name] == ["parent", "child"]


def test_collectives_and_shapes_follow_their_rows_through_sorting(tmp_path: Path) -> None:
    collective = {
        "Collective name": "allreduce",
        "Process Group Name": "0",
        "In msg nelems": 9,
        "dtype": "Float",
    }
    late = KERNEL | {"name": "ncclKernel", "ts": 50, "args": collective}
    shaped = OP | {"ts": 60, "args": {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}}
    trace = read(tmp_path, [late, shaped, OP, KERNEL])
    assert [(one.row, one.operation, one.in_elements) for one in trace.collectives] == [(1, "allreduce", 9)]
    assert json.loads(trace.shapes[1]) == [[[2, 3], [3, 4]], ["float", "float"]]


def test_a_cut_text_gives_whole_events_and_a_note(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": [OP | {"ts": place} for place in range(1000)]})
    trace = read(tmp_path, text[:-57])
    assert len(trace.host) in (998, 999)
    assert "whole events" in trace.info.notes[0]


def test_a_cut_archive_gives_whole_events_and_a_note(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    events = [OP | {"ts": place, "name": f"op {place * 7919 % 10007}"} for place in range(20_000)]
    content = gzip.compress(json.dumps(events).encode())
    path.write_bytes(content[: len(content) // 2])
    trace = read_kineto(path)
    assert 1000 < len(trace.host) < 20_000
    assert "compressed data ends early" in trace.info.notes[0]


def test_events_of_unknown_form_are_counted_and_left_out(tmp_path: Path) -> None:
    odd = [OP | {"name": 5}, OP | {"ts": "soon"}, KERNEL | {"args": {"correlation": [1]}}]
    trace = read(tmp_path, [OP, *odd])
    assert (len(trace.host), len(trace.device)) == (1, 1)
    assert trace.device.correlation.tolist() == [ABSENT]
    assert trace.info.notes == ("2 events had fields of an unknown form and were left out",)


def test_impossible_times_are_counted_and_left_out(tmp_path: Path) -> None:
    trace = read(tmp_path, [OP, OP | {"ts": 1e300}, OP | {"dur": -5}, OP | {"ts": None}])
    assert len(trace.host) == 1
    assert trace.info.notes == ("3 events had no usable time and were left out",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "no event that can be used"),
        ('{"traceEvents": []}', "no event that can be used"),
        ('{"a": 1}', "without a list"),
        ('{"traceEvents": 5}', "without a list"),
        ("[[[[[[[[[[", "no event that can be used"),
        ("[" * 100_000, "no event that can be used"),
        ('{"a":' * 50_000, "without a list"),
    ],
)
def test_documents_without_events_are_refused_in_one_sentence(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_traceevents_in_text_before_the_list_do_not_mislead(tmp_path: Path) -> None:
    trace = read(tmp_path, {"INFO": '"traceEvents": [', "other": {"traceEvents": 3}, "traceEvents": [OP]})
    assert len(trace.host) == 1


def test_a_text_of_many_pieces_is_read_whole(tmp_path: Path) -> None:
    """More than one piece, with brackets and quotes inside strings that look like ends of events."""
    trick = 'x"},{"ph":"X"}]},{'
    events = [OP | {"ts": place, "name": trick, "args": {"Call stack": "a" * 400}} for place in range(12_000)]
    trace = read(tmp_path, {"traceEvents": events, "traceName": trick})
    assert len(trace.host) == 12_000
    assert set(trace.names) == {trick}
    assert trace.info.notes == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args")
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.sampled_from(["X", "i", "s", "f", "M", "B"]) | JSON,
        "cat": st.sampled_from(["kernel", "cpu_op", "cuda_runtime", "gpu_memcpy", "ac2g", "cuda_sync"])
        | JSON,
        "name": st.sampled_from(
            ["ProfilerStep#1", "[memory]", "enumerate(DataLoader)#x", "ncclKernel_AllReduce"]
        )
        | JSON,
        "ts": st.integers(0, 1000) | JSON,
        "dur": st.integers(0, 100) | JSON,
        "pid": JSON,
        "tid": JSON,
        "id": JSON,
        "args": st.dictionaries(
            st.sampled_from(
                ["correlation", "stream", "device", "bytes", "Input Dims", "Bytes", "Device Type", "name"]
            ),
            st.integers(-5, 5) | JSON,
        )
        | JSON,
    },
)


@given(
    st.lists(EVENTS, max_size=8),
    st.dictionaries(st.sampled_from(["distributedInfo", "deviceProperties", "x"]), JSON),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_events_are_read_or_refused(tmp_path: Path, events: list[Any], head: dict[str, Any]) -> None:
    try:
        trace = read(tmp_path, head | {"traceEvents": events})
    except InputError:
        return
    summarise(trace)


def test_one_long_id_does_not_widen_all_others(tmp_path: Path) -> None:
    # GIVEN arrows of which one has an id of 100,000 letters
    arrows = [{"ph": "s", "cat": "ac2g", "pid": 1, "tid": 1, "ts": at, "id": at} for at in range(1000)]
    arrows[7]["id"] = "x" * 100_000
    # WHEN they are read
    tracemalloc.start()
    try:
        trace = read(tmp_path, {"traceEvents": [OP, *arrows]})
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # THEN that takes no more memory than the text itself, and only this id is missing
    assert peak_bytes < 50_000_000
    assert trace.flows.id[[6, 7, 8]].tolist() == [6, -1, 8]
