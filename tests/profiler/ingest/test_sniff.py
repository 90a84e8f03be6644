"""A file is known by its content, and refused by what it is."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.recordings import ExecutionGraph, MemoryRecording, MetricSeries, format_of
from trainrx.profiler.ingest.sniff import open_timeline, open_trace

OP = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 8}


def written(tmp_path: Path, content: bytes, name: str = "misleading.png") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_names_do_not_matter(tmp_path: Path, packed: bool) -> None:
    content = json.dumps({"traceEvents": [OP]}).encode()
    path = written(tmp_path, gzip.compress(content) if packed else content)
    assert format_of(open_trace(path)) == "kineto"


def test_a_memory_timeline_is_known_by_its_rows(tmp_path: Path) -> None:
    recording = open_trace(written(tmp_path, b"[[-1, 1, 500, 7], [100, 2, 400, 0], [200, 4, -900, 0]]"))
    assert isinstance(recording, MemoryRecording)
    assert recording.peak_allocated_bytes == 900
    assert recording.allocated_bytes.tolist() == [500, 900, 0]
    assert recording.time_s.tolist() == [0.0, 0.0, 1e-7]


def test_a_memory_timeline_without_times_gives_its_peak(tmp_path: Path) -> None:
    recording = open_trace(written(tmp_path, b"[[-1, 1, 500, 7], [-1, 2, 400, 0]]"))
    assert isinstance(recording, MemoryRecording)
    assert recording.peak_allocated_bytes == 900
    assert (len(recording.time_s), len(recording.allocated_bytes)) == (0, 0)
    assert recording.notes


def test_an_execution_trace_is_known_by_its_schema(tmp_path: Path) -> None:
    document = {
        "schema": "1.1.0-chakra.0.0.4",
        "pid": 1,
        "nodes": [{"name": "aten::mm"}, {"name": "nccl:all_reduce"}],
    }
    recording = open_trace(written(tmp_path, json.dumps(document).encode()))
    assert isinstance(recording, ExecutionGraph)
    assert (recording.nodes, recording.collectives) == (2, 1)


def test_a_metric_csv_is_known_by_its_header(tmp_path: Path) -> None:
    recording = open_trace(written(tmp_path, b"timestamp,gpu_index,power_W\n1.0,0,300\n3.0,0,500\n"))
    assert isinstance(recording, MetricSeries)
    assert recording.rows == 2
    assert recording.metrics[0].mean == 400


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x93NUMPY...", "numpy"),
        (b"PAR1....", "Parquet"),
        (b"\x89PNG\r\n", "PNG"),
        (b"\x7fELF\x02", "program"),
        (b"<html><body>", "text file"),
        (b"import torch\n", "text file"),
        (b"\x01\x02\x03\x04\x00\x00", "binary file"),
        (b"a,b\n1,2\n", "text file"),
        (b'{"loss": 1.0}', "without a list"),
        (b"\x1f\x8bdamaged", "compressed data"),
        (gzip.compress(b"", mtime=0), "is empty"),
    ],
)
def test_other_files_are_refused_by_what_they_are(tmp_path: Path, content: bytes, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        open_trace(written(tmp_path, content))
    assert "misleading.png" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        open_trace(tmp_path / "nothing.json")
    with pytest.raises(InputError, match="is a folder"):
        open_trace(tmp_path)


def test_a_timeline_is_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="memory-timeline, a timeline"):
        open_timeline(written(tmp_path, b"[[-1, 1, 500, 7]]"))


def test_what_the_csv_module_cannot_split_is_no_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a binary file of which Python 3.10 says "line contains NUL"
    def refuse(*args: Any, **options: Any) -> Any:
        raise csv.Error("line contains NUL")

    monkeypatch.setattr(csv, "reader", refuse)
    # WHEN it is opened THEN it is refused by what it is
    with pytest.raises(InputError, match="binary file of unknown kind"):
        open_trace(written(tmp_path, b"\x00\x01,time\n\x00\x02,3\n"))
