"""Nsight Systems exports, made here as small databases."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.columns import DeviceKind, HostKind
from trainrx.profiler.ingest.nsight import read_nsight
from trainrx.profiler.ingest.sniff import open_trace

THREAD = (7 << 24) | 9


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.sqlite"
    with sqlite3.connect(path) as made:
        made.executescript(
            f"""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'sgemm(float*)'), (3, 'cuLaunchKernel');
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, nameId INT, globalTid INT, correlationId INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1010, 1, {THREAD}, 5), (1020, 1030, 3, {THREAD}, 6);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT,
                demangledName INT, graphNodeId INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1050, 1100, 0, 7, 5, 2, NULL);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, correlationId INT,
                bytes INT, copyKind INT, srcKind INT, dstKind INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1200, 1300, 0, 7, 6, 4096, 1, 0, 2);
            CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT);
            INSERT INTO NVTX_EVENTS VALUES (900, 1400, 59, 'step', NULL, {THREAD}), (900, NULL, 34, 'mark', NULL, {THREAD});
            CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, totalMemory INT);
            INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100', 1000);
            """
        )
    made.close()
    return path


def test_tables_become_columns(export: Path) -> None:
    trace = read_nsight(export)
    assert trace.info.origin_ns == 900
    assert trace.duration_ns == 500
    assert trace.host.kind.tolist() == [HostKind.ANNOTATION, HostKind.RUNTIME, HostKind.DRIVER]
    assert [trace.names[n] for n in trace.host.name] == ["step", "cudaLaunchKernel", "cuLaunchKernel"]
    assert trace.device.kind.tolist() == [DeviceKind.KERNEL, DeviceKind.MEMCPY]
    assert [trace.names[n] for n in trace.device.name] == [
        "sgemm(float*)",
        "Memcpy HtoD (Pageable -> Device)",
    ]
    assert trace.device.bytes.tolist() == [-1, 4096]
    assert (trace.threads[0].pid, trace.threads[0].tid) == (7, 9)
    assert trace.info.devices[0].name == "NVIDIA A100"


OTHER = (8 << 24) | 9


def test_of_several_processes_the_busiest_is_read_alone(export: Path) -> None:
    # GIVEN an export of two ranks, whose calls and kernels have the same correlation ids
    with sqlite3.connect(export) as made:
        made.executescript(
            f"""
            ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN globalPid INT;
            ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD COLUMN globalPid INT;
            UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = {7 << 24};
            UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET globalPid = {7 << 24};
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1060, 1900, 1, 7, 5, 2, NULL, {8 << 24});
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (800, 810, 1, {OTHER}, 5);
            INSERT INTO NVTX_EVENTS VALUES (700, 2400, 59, 'other', NULL, {OTHER});
            """
        )
    made.close()
    # WHEN it is read
    trace = read_nsight(export)
    # THEN only the rank with most device work is there, and that is said
    assert {thread.pid for thread in trace.threads} == {7}
    assert trace.device.device.tolist() == [0, 0]
    assert (len(trace.host), trace.duration_ns) == (3, 500)
    assert trace.info.notes == (
        "the export holds 2 processes with device work; only process 7, which has most of it, was read: "
        "run nsys in each rank to see all",
    )


def test_a_packed_export_is_read_the_same(export: Path) -> None:
    packed = export.with_suffix(".gz")
    packed.write_bytes(gzip.compress(export.read_bytes()))
    assert len(read_nsight(packed).device) == 2


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE users (name TEXT)")
    made.close()
    with pytest.raises(InputError, match="neither device work nor CUDA calls"):
        open_trace(path)


def test_a_damaged_database_is_refused(export: Path) -> None:
    content = export.read_bytes()
    export.write_bytes(content[:3000] + b"\xff" * 9000)
    with pytest.raises(InputError) as caught:
        open_trace(export)
    assert "\n" not in str(caught.value)
