"""Every recorded file is read, or refused in one clear sentence."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.ingest.recordings import (
    ExecutionGraph,
    MemoryRecording,
    MetricSeries,
    Recording,
    format_of,
)
from trainrx.profiler.ingest.sniff import open_trace

KINDS = {
    "trace": Trace,
    "nsys": Trace,
    "snapshot": MemoryRecording,
    "memory_timeline": MemoryRecording,
    "execution_trace": ExecutionGraph,
    "nvml": MetricSeries,
}


@functools.lru_cache(maxsize=4)
def opened(path: Path) -> Recording:
    return open_trace(path)


def test_a_file_is_read_as_what_it_is_or_refused(shared: Path, facts: dict[str, Any], any_file: str) -> None:
    kind = facts["files"][any_file]["kind"]
    if kind == "rocprof":
        with pytest.raises(InputError, match="rocprofiler"):
            open_trace(shared / any_file)
        return
    recording = opened(shared / any_file)
    assert isinstance(recording, KINDS[kind])
    assert format_of(recording)


def test_counts_agree_with_the_facts(shared: Path, facts: dict[str, Any], any_file: str) -> None:
    told = facts["files"][any_file]
    if "window_totals" not in told:
        return
    trace = opened(shared / any_file)
    assert isinstance(trace, Trace)
    counts = np.bincount(trace.device.kind, minlength=5)
    assert [int(n) for n in counts[:3]] == [told["has"][key] for key in ("kernels", "memcpy", "memset")]
    assert trace.info.rank == told["rank"]
    assert trace.info.world_size == told["world_size"]
    assert trace.info.notes == ()


def test_columns_are_sorted_and_within_the_trace(shared: Path, facts: dict[str, Any], any_file: str) -> None:
    if facts["files"][any_file]["kind"] not in ("trace", "nsys"):
        return
    trace = opened(shared / any_file)
    assert isinstance(trace, Trace)
    for table in (trace.host, trace.device):
        assert (np.diff(table.start_ns) >= 0).all()
        assert (table.end_ns >= table.start_ns).all()
        assert len(table) == 0 or (table.start_ns[0] >= 0 and table.end_ns.max() <= trace.duration_ns)


def test_other_documents_are_refused_by_what_they_are(shared: Path) -> None:
    for name in ("README.md", "facts.json"):
        with pytest.raises(InputError) as caught:
            open_trace(shared / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_truncated_file_gives_its_whole_events_with_a_note(shared: Path) -> None:
    trace = open_trace(shared / "derived/truncated_resnet50_num_workers_4.pt.trace.json.gz")
    assert isinstance(trace, Trace)
    assert len(trace.host) > 5000
    assert any("breaks inside an event" in note for note in trace.info.notes)


@pytest.mark.parametrize(
    "name",
    [
        "MAGMA27__assignment2-systems/memory_snapshot.pickle.gz",
        "mryab__efficient-dl-systems/vanilla_ce_snapshot.pickle.gz",
        "mryab__efficient-dl-systems/liger_ce_snapshot.pickle.gz",
    ],
)
def test_memory_snapshots_agree_with_the_facts(shared: Path, facts: dict[str, Any], name: str) -> None:
    told = facts["files"][name]
    read = open_trace(shared / name)
    assert isinstance(read, MemoryRecording)
    held_before_mb = told["allocated_mb"] - told["left_at_end_mb"]
    peak_mb = told["peak_of_traced_allocations_mb"] + held_before_mb
    assert read.peak_allocated_bytes / 2**20 == pytest.approx(peak_mb, abs=0.1)
    assert read.reserved_bytes is not None
    assert read.reserved_bytes / 2**20 == pytest.approx(told["reserved_mb"], abs=0.1)
    assert read.unused_reserved_share == pytest.approx(told["reserved_not_allocated_frac"], abs=0.001)


def test_metric_series_agree_with_the_facts(shared: Path, facts: dict[str, Any]) -> None:
    name = "karpathy__nanoGPT/gpu_metrics.5113.csv.gz"
    read = open_trace(shared / name)
    assert isinstance(read, MetricSeries)
    told = facts["files"][name]
    assert read.rows == told["rows"]
    means = {one.device: one.mean for one in read.metrics if one.name == "power_W"}
    assert {str(device): round(mean, 1) for device, mean in means.items()} == {
        device: values["power_mean"] for device, values in told["per_gpu"].items()
    }
