"""Writes columns back as a Chrome trace that Perfetto opens and `read_kineto` reads: the inverse of reading.

Arguments that trainrx does not read (registers, grids, strides) are not kept.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from ..errors import UsageError
from .columns import ABSENT, Collective, DeviceKind, FlowKind, HostKind, Trace

_HOST_CATEGORIES = {
    HostKind.OP: "cpu_op",
    HostKind.ANNOTATION: "user_annotation",
    HostKind.RUNTIME: "cuda_runtime",
    HostKind.DRIVER: "cuda_driver",
    HostKind.PYTHON: "python_function",
    HostKind.OVERHEAD: "overhead",
}
_DEVICE_CATEGORIES = {
    DeviceKind.KERNEL: "kernel",
    DeviceKind.MEMCPY: "gpu_memcpy",
    DeviceKind.MEMSET: "gpu_memset",
    DeviceKind.SYNC: "cuda_sync",
    DeviceKind.ANNOTATION: "gpu_user_annotation",
}
_FLOW_CATEGORIES = {FlowKind.LAUNCH: "ac2g", FlowKind.FORWARD_BACKWARD: "fwdbwd"}
_LINES = 4096


def write_chrome(trace: Trace, path: Path) -> None:
    """Write a trace as Chrome JSON; gzip where the name ends in ``.gz``.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        with gzip.open(path, "wb", compresslevel=4) if path.suffix == ".gz" else path.open("wb") as file:
            file.write(b"{" + _head(trace) + b',"traceEvents":[\n')
            for place, lines in enumerate(_batches(_events(trace))):
                file.write((b",\n" if place else b"") + lines)
            file.write(b"\n]}\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _head(trace: Trace) -> bytes:
    info = trace.info
    distributed = {"rank": info.rank, "world_size": info.world_size, "backend": info.backend}
    head: dict[str, Any] = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": info.origin_ns,
        "deviceProperties": [
            {
                "id": one.id,
                "name": one.name,
                "totalGlobalMem": one.total_memory_bytes,
                "numSms": one.multiprocessors,
            }
            | dict(zip(("computeMajor", "computeMinor"), one.compute_capability or (), strict=False))
            for one in info.devices
        ],
        **info.versions,
    }
    if info.rank is not None or info.world_size is not None:
        head["distributedInfo"] = distributed | {"nccl_version": info.collective_library}
    return json.dumps(head).encode()[1:-1]


def _batches(events: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    lines: list[bytes] = []
    for event in events:
        lines.append(msgspec.json.encode(event))
        if len(lines) == _LINES:
            yield b",\n".join(lines)
            lines.clear()
    if lines:
        yield b",\n".join(lines)


def _events(trace: Trace) -> Iterator[dict[str, Any]]:
    yield from _thread_names(trace)
    yield from _host_events(trace)
    yield from _device_events(trace)
    yield from _flow_events(trace)
    yield from _memory_events(trace)


def _thread_names(trace: Trace) -> Iterator[dict[str, Any]]:
    for thread in trace.threads:
        if thread.label:
            yield {
                "ph": "M",
                "name": "thread_name",
                "pid": thread.pid,
                "tid": thread.tid,
                "ts": 0,
                "args": {"name": thread.label},
            }


def _host_events(trace: Trace) -> Iterator[dict[str, Any]]:
    host = trace.host
    columns = (
        host.start_ns,
        host.end_ns,
        host.name,
        host.kind,
        host.thread,
        host.correlation,
        host.external,
        host.sequence,
    )
    for row, values in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        start, end, name, kind, thread, *ids = cast("tuple[int, ...]", values)
        args = _given({"correlation": ids[0], "External id": ids[1], "Sequence number": ids[2]})
        if row in trace.shapes:
            args |= dict(zip(("Input Dims", "Input type"), json.loads(trace.shapes[row]), strict=True))
        place = trace.threads[thread]
        category = _HOST_CATEGORIES[HostKind(kind)]
        home = (place.pid, place.tid)
        yield _span(trace.names[name], category, times_ns=(start, end), place=home, args=args)


def _device_events(trace: Trace) -> Iterator[dict[str, Any]]:
    rows = trace.device
    collectives = {one.row: one for one in trace.collectives}
    columns = (rows.start_ns, rows.end_ns, rows.name, rows.kind, rows.device, rows.stream)
    more = (
        rows.correlation,
        rows.external,
        rows.bytes,
        rows.graph,
        rows.waits_on_stream,
        rows.waits_on_correlation,
    )
    for row, values in enumerate(zip(*(column.tolist() for column in columns + more), strict=True)):
        start, end, name, kind, device, stream, *ids = cast("tuple[int, ...]", values)
        args = _given(
            {
                "device": device,
                "stream": stream,
                "correlation": ids[0],
                "External id": ids[1],
                "bytes": ids[2],
                "graph id": ids[3],
                "wait_on_stream": ids[4],
                "wait_on_cuda_event_record_corr_id": ids[5],
            }
        )
        if row in collectives:
            args |= _collective_args(collectives[row])
        category = _DEVICE_CATEGORIES[DeviceKind(kind)]
        yield _span(trace.names[name], category, times_ns=(start, end), place=(device, stream), args=args)


def _collective_args(one: Collective) -> dict[str, Any]:
    told = {
        "Collective name": one.operation,
        "Process Group Name": one.group,
        "Group size": one.group_size,
        "In msg nelems": one.in_elements,
        "Out msg nelems": one.out_elements,
        "dtype": one.dtype,
    }
    return {key: value for key, value in told.items() if value is not None}


def _flow_events(trace: Trace) -> Iterator[dict[str, Any]]:
    flows = trace.flows
    columns = (flows.time_ns, flows.kind, flows.begins, flows.id, flows.thread)
    for values in zip(*(column.tolist() for column in columns), strict=True):
        time_ns, kind, begins, number, thread = cast("tuple[int, ...]", values)
        place, category = trace.threads[thread], _FLOW_CATEGORIES[FlowKind(kind)]
        end = {} if begins else {"bp": "e"}
        yield {
            "ph": "s" if begins else "f",
            "cat": category,
            "name": category,
            "id": number,
            "pid": place.pid,
            "tid": place.tid,
            "ts": time_ns / 1000,
        } | end


def _memory_events(trace: Trace) -> Iterator[dict[str, Any]]:
    memory = trace.memory
    columns = (memory.time_ns, memory.bytes, memory.allocated, memory.reserved, memory.device)
    for values in zip(*(column.tolist() for column in columns), strict=True):
        time_ns, size, allocated, reserved, device = cast("tuple[int, ...]", values)
        args = {"Bytes": size, "Device Type": int(device != ABSENT), "Device Id": device}
        args |= _given({"Total Allocated": allocated, "Total Reserved": reserved})
        yield {
            "ph": "i",
            "s": "t",
            "name": "[memory]",
            "cat": "cpu_instant_event",
            "pid": 0,
            "tid": 0,
            "ts": time_ns / 1000,
            "args": args,
        }


def _span(
    name: str,
    category: str,
    *,
    times_ns: tuple[int, int],
    place: tuple[int | str, int | str],
    args: dict[str, Any],
) -> dict[str, Any]:
    start_ns, end_ns = times_ns
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": place[0],
        "tid": place[1],
        "ts": start_ns / 1000,
        "dur": (end_ns - start_ns) / 1000,
        "args": args,
    }


def _given(args: dict[str, int]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if value != ABSENT}
