"""Reads Chrome-trace JSON as written by the PyTorch profiler (Kineto and the older autograd profiler) into
columns.

All ages of the format: bare lists, upper-case categories, streams named in text, no categories at all, no
steps, no rank, host only, device only, CUDA and ROCm. The text is decoded piece by piece straight into
columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from .columns import KINETO, DeviceModel, Trace, TraceInfo
from .event_stream import EventStream, PieceDecoder
from .kineto_events import Event, EventWithoutArgs
from .kineto_gathering import Gathered
from .source import Progress, Source, no_progress


def read_kineto(path: Path, *, progress: Progress = no_progress) -> Trace:
    """Read one trace file (plain or gzip).

    Raises:
        InputError: the file holds no trace, or not one event that can be placed in time.
    """
    with Source(path, progress=progress) as source:
        stream = EventStream(source, PieceDecoder(Event, EventWithoutArgs))
        gathered = Gathered()
        for events in stream:
            gathered.add(events)
    notes = [*stream.notes, *gathered.notes(stream.decoder.dropped)]

    def info(origin_ns: int) -> TraceInfo:
        return trace_info(path, stream.head, origin_ns=_base_ns(stream.head) + origin_ns, notes=notes)

    trace = gathered.trace(info)
    if trace is None:
        raise InputError(_nothing_usable(path, notes))
    return trace


def _nothing_usable(path: Path, notes: list[str]) -> str:
    why = f" ({'; '.join(notes)})" if notes else ""
    return (
        f"{path} holds no event that can be used{why}: "
        "record it again with torch.profiler and export_chrome_trace"
    )


def _base_ns(head: Mapping[str, Any]) -> int:
    base = head.get("baseTimeNanoseconds")
    return base if isinstance(base, int) and 0 <= base < 1 << 62 else 0


def trace_info(path: Path, head: Mapping[str, Any], *, origin_ns: int, notes: list[str]) -> TraceInfo:
    """What the keys beside the events say."""
    told = head.get("distributedInfo")
    distributed: dict[str, Any] = told if isinstance(told, dict) else {}
    return TraceInfo(
        source=str(path),
        format=KINETO,
        origin_ns=origin_ns,
        rank=_count(distributed.get("rank")),
        world_size=_count(distributed.get("world_size")),
        backend=_text(distributed.get("backend")),
        collective_library=_text(distributed.get("nccl_version")),
        vendor=_vendor(head),
        devices=_device_models(head.get("deviceProperties")),
        versions={
            key: str(head[key])
            for key in sorted(head)
            if key.endswith("_version") and len(str(head[key])) < 64
        },
        notes=tuple(notes),
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _vendor(head: Mapping[str, Any]) -> str | None:
    if any(key.startswith(("hip_", "roctracer", "rocprofiler")) for key in head):
        return "AMD"
    if any(key.startswith(("cuda_", "cupti")) for key in head):
        return "NVIDIA"
    names = " ".join(model.name for model in _device_models(head.get("deviceProperties")))
    return "AMD" if "AMD" in names else "NVIDIA" if names else None


def _device_models(value: object) -> tuple[DeviceModel, ...]:
    if not isinstance(value, list):
        return ()
    models = [_device_model(entry) for entry in value[:1024] if isinstance(entry, dict)]
    return tuple(model for model in models if model is not None)


def _device_model(entry: dict[str, Any]) -> DeviceModel | None:
    number, name = _count(entry.get("id")), _text(entry.get("name"))
    if number is None or name is None:
        return None
    major, minor = _count(entry.get("computeMajor")), _count(entry.get("computeMinor"))
    memory = entry.get("totalGlobalMem")
    return DeviceModel(
        id=number,
        name=name,
        total_memory_bytes=memory if isinstance(memory, int) and memory > 0 else None,
        multiprocessors=_count(entry.get("numSms")),
        compute_capability=None if major is None or minor is None else (major, minor),
    )
