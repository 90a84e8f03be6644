"""What is written reads back: the column store and the Chrome writer."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trainrx.profiler.errors import InputError, UsageError
from trainrx.profiler.ingest.chrome_writer import write_chrome
from trainrx.profiler.ingest.column_store import read_columns, write_columns
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.ingest.kineto import read_kineto

EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "main"}},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0.5, "dur": 80},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 8,
     "args": {"External id": 3, "Sequence number": 4, "Input Dims": [[2, 2]], "Input type": ["float"]}},
    {"ph": "X", "cat": "python_function", "name": "a.py(3): f", "pid": 1, "tid": 1, "ts": 1, "dur": 9},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1,
     "args": {"correlation": 7}},
    {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 1, "tid": 1, "ts": 2},
    {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 0, "tid": 7, "ts": 5, "bp": "e"},
    {"ph": "X", "cat": "kernel", "name": "ncclKernel", "pid": 0, "tid": 7, "ts": 5, "dur": 2.25,
     "args": {"device": 0, "stream": 7, "correlation": 7, "Collective name": "allreduce", "Group size": 2}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 9, "dur": 1,
     "args": {"device": 0, "stream": 7, "bytes": 12}},
    {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 7, "ts": 9, "dur": 1,
     "args": {"stream": 7, "device": 0, "wait_on_stream": 8, "wait_on_cuda_event_record_corr_id": 2}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3, "s": "t",
     "args": {"Bytes": -4, "Device Type": 1, "Device Id": 0, "Total Allocated": 6}},
]  # fmt: skip
HEAD = {
    "baseTimeNanoseconds": 1000,
    "cuda_runtime_version": 12,
    "distributedInfo": {"rank": 1, "world_size": 2, "backend": "nccl", "nccl_version": "2.1"},
    "deviceProperties": [
        {"id": 0, "name": "H100", "totalGlobalMem": 8, "numSms": 3, "computeMajor": 9, "computeMinor": 0}
    ],
}


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(HEAD | {"traceEvents": EVENTS}))
    return read_kineto(path)


def assert_equal_tables(one: Trace, other: Trace, *, but: tuple[str, ...] = ()) -> None:
    for table in ("host", "device", "flows", "memory"):
        for field in dataclasses.fields(getattr(one, table)):
            if field.name not in but:
                left, right = (getattr(getattr(trace, table), field.name) for trace in (one, other))
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left, right, err_msg=f"{table}.{field.name}")


def test_columns_read_back_equal(trace: Trace, tmp_path: Path) -> None:
    write_columns(trace, tmp_path / "columns")
    again = read_columns(tmp_path / "columns")
    assert_equal_tables(trace, again)
    for name in ("info", "names", "threads", "duration_ns", "collectives", "shapes"):
        assert getattr(again, name) == getattr(trace, name)


@pytest.mark.parametrize("name", ["trace.json", "host.arrow"])
def test_damaged_columns_are_refused(trace: Trace, tmp_path: Path, name: str) -> None:
    write_columns(trace, tmp_path / "columns")
    (tmp_path / "columns" / name).write_bytes(b"damaged")
    with pytest.raises(InputError, match="import the trace again"):
        read_columns(tmp_path / "columns")


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_an_exported_trace_reads_back_equal(trace: Trace, tmp_path: Path, name: str) -> None:
    write_chrome(trace, tmp_path / name)
    again = read_kineto(tmp_path / name)
    assert_equal_tables(trace, again, but=("name", "thread"))
    assert [again.names[n] for n in again.host.name] == [trace.names[n] for n in trace.host.name]
    assert [again.threads[n] for n in again.host.thread] == [trace.threads[n] for n in trace.host.thread]
    assert again.collectives == trace.collectives
    assert {row: json.loads(text) for row, text in again.shapes.items()} == {
        row: json.loads(text) for row, text in trace.shapes.items()
    }
    assert dataclasses.replace(again.info, source="", notes=()) == dataclasses.replace(trace.info, source="")


def test_an_export_into_nowhere_is_a_usage_error(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_chrome(trace, tmp_path / "no" / "folder.json")
