"""Memory snapshots are read without trusting them."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.memory_snapshot import read_memory_snapshot
from trainrx.profiler.ingest.recordings import NO_CLOCK


def snapshot() -> dict[str, Any]:
    events = [
        {"action": "alloc", "size": 100, "time_us": 1_000_000},
        {"action": "alloc", "size": 50, "time_us": 2_000_000},
        {"action": "free_requested", "size": 100, "time_us": 3_000_000},
        {"action": "free_completed", "size": 100, "time_us": 3_000_000},
        {"action": "oom", "size": 9, "time_us": 3_500_000},
    ]
    return {"segments": [{"total_size": 400, "allocated_size": 50}], "device_traces": [[], events]}


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("packed", [False, True])
def test_a_snapshot_of_any_protocol_is_read(tmp_path: Path, protocol: int, packed: bool) -> None:
    content = pickle.dumps(snapshot(), protocol=protocol)
    read = read_memory_snapshot(written(tmp_path, gzip.compress(content) if packed else content))
    assert read.peak_allocated_bytes == 150
    assert read.allocated_bytes.tolist() == [100, 150, 50]
    assert read.unused_reserved_share == 0.875
    assert read.notes == ("1 allocation failed for want of memory",)
    assert read.time_s.tolist() == [0.0, 1.0, 2.0]


def test_memory_freed_from_before_the_history_lifts_the_level(tmp_path: Path) -> None:
    events = [
        {"action": "free_completed", "size": 70, "time_us": 1},
        {"action": "alloc", "size": 30, "time_us": 2},
    ]
    read = read_memory_snapshot(written(tmp_path, pickle.dumps({"segments": [], "device_traces": [events]})))
    assert read.allocated_bytes.tolist() == [0, 30]
    assert read.peak_allocated_bytes == 70


def test_without_times_there_is_a_peak_and_no_curve(tmp_path: Path) -> None:
    events = [{"action": "alloc", "size": 70}, {"action": "alloc", "size": 30, "time_us": 5}]
    read = read_memory_snapshot(written(tmp_path, pickle.dumps({"segments": [], "device_traces": [events]})))
    assert read.peak_allocated_bytes == 100
    assert (len(read.time_s), len(read.allocated_bytes)) == (0, 0)
    assert read.notes == (NO_CLOCK,)


def test_what_was_held_before_the_history_began_counts_for_the_peak(tmp_path: Path) -> None:
    # GIVEN a history that began when 1000 bytes were held, which are still held at its end
    events = [
        {"action": "alloc", "size": 300, "time_us": 1},
        {"action": "free_completed", "size": 300, "time_us": 2},
    ]
    segments = [{"device": 0, "total_size": 1400, "allocated_size": 1000}]
    # WHEN the snapshot is read
    read = read_memory_snapshot(
        written(tmp_path, pickle.dumps({"segments": segments, "device_traces": [events]}))
    )
    # THEN the peak holds both
    assert read.peak_allocated_bytes == 1300
    assert read.allocated_bytes.tolist() == [1300, 1000]


def test_the_memory_of_other_devices_is_left_out(tmp_path: Path) -> None:
    segments = [{"device": device, "total_size": 400, "allocated_size": 100 * device} for device in range(3)]
    events = [{"action": "alloc", "size": 100}]
    content = {"segments": segments, "device_traces": [[], events, "damaged"]}
    read = read_memory_snapshot(written(tmp_path, pickle.dumps(content)))
    assert (read.peak_allocated_bytes, read.reserved_bytes, read.reserved_in_use_bytes) == (100, 400, 100)


def test_without_a_history_the_state_at_the_end_is_told(tmp_path: Path) -> None:
    content = {"segments": [{"total_size": 400, "allocated_size": 100}], "device_traces": [[], []]}
    read = read_memory_snapshot(written(tmp_path, pickle.dumps(content)))
    assert read.peak_allocated_bytes == 100
    assert read.time_s.tolist() == []
    assert read.notes


class Evil:
    """Runs a command when unpickled by a trusting reader."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, (f"touch {self.marker}",))


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    content = pickle.dumps({"segments": [Evil(marker)]})
    with pytest.raises(InputError, match="more than plain containers"):
        read_memory_snapshot(written(tmp_path, content))
    assert not marker.exists()


@pytest.mark.parametrize("value", [5, [], {"a": 1}, {"segments": 3}])
def test_other_pickles_are_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="no CUDA memory snapshot"):
        read_memory_snapshot(written(tmp_path, pickle.dumps(value)))


def test_a_pickle_that_asks_for_all_memory_is_refused(tmp_path: Path) -> None:
    for content in (
        b"\x80\x04r\xff\xff\xff\x7f.",
        b"\x80\x04]r\xff\xff\xff\x7f.",
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f.",
    ):
        with pytest.raises(InputError, match=r"damaged pickle|plain containers"):
            read_memory_snapshot(written(tmp_path, content))


@given(st.integers(0, 10_000), st.integers(0, 255), st.floats(0, 1))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_pickles_are_read_or_refused(tmp_path: Path, place: int, byte: int, cut: float) -> None:
    content = bytearray(pickle.dumps(snapshot()))
    content[place % len(content)] = byte
    try:
        read_memory_snapshot(written(tmp_path, bytes(content[: int(cut * len(content)) + 1])))
    except InputError as error:
        assert "\n" not in str(error)
