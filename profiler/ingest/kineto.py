"""Reads Chrome-trace JSON as written by the PyTorch profiler (Kineto and the older autograd profiler) into
columns.

All ages of the format: bare lists, upper-case categories, streams named in text, no categories at all, no
steps, no rank, host only, device only, CUDA and ROCm. The text is decoded piece by piece straight into
columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from . import building
from .building import Interner, as_id
from .columns import ABSENT, KINETO, Collective, DeviceModel, FlowKind, HostKind, Thread, Trace, TraceInfo
from .event_stream import EventStream, PieceDecoder
from .kineto_events import (
    CONVOLUTION_OPS,
    DEVICE_CATEGORIES,
    FLOW_KINDS,
    HOST_CATEGORIES,
    SHAPED_OPS,
    Event,
    EventArgs,
    EventWithoutArgs,
    Label,
    is_annotation,
    kind_without_category,
)
from .source import Progress, Source, no_progress

LARGEST_TIME_US = 4e15
"""Beyond 126 years a stamp is no time; the bound also keeps nanoseconds within 64 bits."""

_SHAPED = frozenset(SHAPED_OPS + CONVOLUTION_OPS)
_NO_ARGS = EventArgs()
_TS = attrgetter("ts")
_INTEGER = re.compile(r"-?\d{1,18}$")


def read_kineto(path: Path, *, progress: Progress = no_progress) -> Trace:
    """Read one trace file (plain or gzip).

    Raises:
        InputError: the file holds no trace, or not one event that can be placed in time.
    """
    with Source(path, progress=progress) as source:
        stream = EventStream(source, PieceDecoder(Event, EventWithoutArgs))
        gathered = _Gathered()
        for events in stream:
            gathered.add(events)
    notes = [*stream.notes, *gathered.notes(stream.decoder.dropped)]
    return gathered.trace(path, stream.head, notes)


class _Gathered:
    """Values of all events so far, as lists of arrays (one per piece), so that event objects live only per
    piece.
    """

    def __init__(self) -> None:
        self.names = Interner()
        self.threads = Interner()
        self.labels: dict[tuple[Any, Any], str] = {}
        self.host: list[dict[str, npt.NDArray[Any]]] = []
        self.device: list[dict[str, npt.NDArray[Any]]] = []
        self.flows: list[dict[str, npt.NDArray[Any]]] = []
        self.memory: list[dict[str, npt.NDArray[Any]]] = []
        self.collectives: dict[int, EventArgs] = {}
        self.shapes: dict[int, str] = {}
        self.host_count = 0
        self.device_count = 0
        self.unplaced = 0
        self.open_ended = 0

    def notes(self, dropped: int) -> list[str]:
        """What was left out."""
        told = [
            (dropped, "had fields of an unknown form and were left out"),
            (self.unplaced, "had no usable time and were left out"),
            (
                self.open_ended,
                "were begin/end pairs, which the PyTorch profiler does not write, and were left out",
            ),
        ]
        return [f"{count} events {what}" for count, what in told if count]

    def add(self, events: list[Event]) -> None:
        """Take over one piece."""
        host: list[Event] = []
        device: list[Event] = []
        host_kinds: list[int] = []
        device_kinds: list[int] = []
        flows: list[Event] = []
        memory: list[Event] = []
        for event in events:
            phase = event.ph
            if phase == "X":
                ts, category = event.ts, event.cat
                if category in HOST_CATEGORIES:
                    group, kinds, kind = host, host_kinds, HOST_CATEGORIES[category]
                elif category in DEVICE_CATEGORIES:
                    group, kinds, kind = device, device_kinds, DEVICE_CATEGORIES[category]
                elif category is None:
                    kind = kind_without_category(event)
                    group, kinds = (
                        (host, host_kinds) if isinstance(kind, HostKind) else (device, device_kinds)
                    )
                else:
                    continue
                if ts is None or not -LARGEST_TIME_US < ts < LARGEST_TIME_US or not _lasts(event.dur):
                    self.unplaced += 1
                    continue
                group.append(event)
                kinds.append(kind)
            elif phase in ("s", "f"):
                if event.cat in FLOW_KINDS and _placed(event):
                    flows.append(event)
            elif phase == "i":
                if event.name == "[memory]" and event.args is not None and _placed(event):
                    memory.append(event)
            elif phase == "M":
                self._label(event)
            elif phase in ("B", "E"):
                self.open_ended += 1
        if host:
            self._add_host(host, host_kinds)
        if device:
            self._add_device(device, device_kinds)
        if flows:
            self._add_flows(flows)
        if memory:
            self._add_memory(memory)

    def _label(self, event: Event) -> None:
        if event.name == "thread_name" and event.args is not None and event.args.name is not None:
            self.labels[_thread_key(event)] = str(event.args.name)

    def _add_host(self, events: list[Event], kinds: list[int]) -> None:
        args = [event.args or _NO_ARGS for event in events]
        self.host.append(
            _times(events)
            | {
                "name": self._name_ids(events),
                "kind": np.array(kinds, dtype=np.uint8),
                "thread": self._thread_ids(events),
                "correlation": _ids([a.correlation for a in args]),
                "external": _ids([a.external if a.external is not None else a.external_old for a in args]),
                "sequence": _ids([a.sequence for a in args]),
            }
        )
        for row, (event, a) in enumerate(zip(events, args, strict=True), self.host_count):
            if event.name in _SHAPED and (shapes := bytes(a.shapes).decode("utf-8", "replace")):
                self.shapes[row] = f"[{shapes},{bytes(a.types).decode('utf-8', 'replace') or '[]'}]"
        self.host_count += len(events)

    def _add_device(self, events: list[Event], kinds: list[int]) -> None:
        args = [event.args or _NO_ARGS for event in events]
        self.device.append(
            _times(events)
            | {
                "name": self._name_ids(events),
                "kind": np.array(kinds, dtype=np.uint8),
                "device": np.array(
                    [_device_of(e, a) for e, a in zip(events, args, strict=True)], dtype=np.int64
                ),
                "stream": np.array(
                    [_stream_of(e, a) for e, a in zip(events, args, strict=True)], dtype=np.int64
                ),
                "correlation": _ids([a.correlation for a in args]),
                "external": _ids([a.external if a.external is not None else a.external_old for a in args]),
                "bytes": _ids([a.bytes for a in args]),
                "graph": _ids([a.graph for a in args]),
                "waits_on_stream": _ids([a.waits_on_stream for a in args]),
                "waits_on_correlation": _ids([a.waits_on_correlation for a in args]),
            }
        )
        for row, a in enumerate(args, self.device_count):
            if a.collective is not None:
                self.collectives[row] = a
        self.device_count += len(events)

    def _add_flows(self, events: list[Event]) -> None:
        self.flows.append(
            {
                "time_ns": _stamps(events),
                "kind": np.array(
                    [FLOW_KINDS.get(e.cat or "", FlowKind.LAUNCH) for e in events], dtype=np.uint8
                ),
                "begins": np.array([e.ph == "s" for e in events], dtype=np.bool_),
                "id": np.array([as_id(_integer(e.id)) for e in events], dtype=np.int64),
                "thread": self._thread_ids(events),
            }
        )

    def _add_memory(self, events: list[Event]) -> None:
        args = [event.args or _NO_ARGS for event in events]
        self.memory.append(
            {
                "time_ns": _stamps(events),
                "bytes": np.array([_signed(a.memory_bytes) for a in args], dtype=np.int64),
                "allocated": _ids([a.allocated for a in args]),
                "reserved": _ids([a.reserved for a in args]),
                "device": np.array([_memory_device(a) for a in args], dtype=np.int64),
            }
        )

    def _name_ids(self, events: list[Event]) -> npt.NDArray[Any]:
        ids = self.names.ids
        return np.array([ids.setdefault(event.name, len(ids)) for event in events], dtype=np.int32)

    def _thread_ids(self, events: list[Event]) -> npt.NDArray[Any]:
        ids = self.threads.ids
        return np.array(
            [ids.setdefault((event.pid, event.tid), len(ids)) for event in events], dtype=np.int32
        )

    def trace(self, path: Path, head: Mapping[str, Any], notes: list[str]) -> Trace:
        """The columns of everything gathered.

        Raises:
            InputError: nothing was gathered.
        """
        if not self.host and not self.device:
            raise InputError(_nothing_usable(path, notes))
        host = _joined(self.host, _HOST_COLUMNS)
        device = _joined(self.device, _DEVICE_COLUMNS)
        flows = _joined(self.flows, _FLOW_COLUMNS)
        memory = _joined(self.memory, _MEMORY_COLUMNS)
        origin_us = _origin_us(host, device)
        for table in (host, device):
            _place(table, origin_us)
        for table in (flows, memory):
            table["time_ns"] = _to_ns(table["time_ns"], origin_us)
        threads, renumbered = self._merged_threads()
        for table in (host, flows):
            table["thread"] = renumbered[table["thread"].astype(np.int64)]
        self._mark_annotations(host)
        host_table, host_order = building.host_spans(host)
        device_table, device_order = building.device_spans(device)
        ends = [int(table.end_ns.max()) for table in (host_table, device_table) if len(table)]
        return Trace(
            info=trace_info(path, head, origin_ns=_base_ns(head) + _whole_ns(origin_us), notes=notes),
            names=self.names.texts(),
            threads=threads,
            host=host_table,
            device=device_table,
            flows=building.flows(flows),
            memory=building.memory_events(memory),
            duration_ns=max(ends),
            collectives=_collectives(self.collectives, device_order),
            shapes=_renumber(self.shapes, host_order),
        )

    def _mark_annotations(self, host: dict[str, npt.NDArray[Any]]) -> None:
        marks = np.array([is_annotation(name) for name in self.names.texts()], dtype=np.bool_)
        marked = (host["kind"] == HostKind.OP) & marks[host["name"].astype(np.int64)]
        host["kind"] = np.where(marked, HostKind.ANNOTATION, host["kind"])

    def _merged_threads(self) -> tuple[tuple[Thread, ...], npt.NDArray[np.int32]]:
        """Threads with ids as numbers and as text are one: early files wrote both for the same thread."""
        merged = Interner()
        numbers = [merged.id((_plain(pid), _plain(tid))) for pid, tid in self.threads.texts()]
        labels = {(_plain(pid), _plain(tid)): label for (pid, tid), label in self.labels.items()}
        threads = tuple(Thread(pid, tid, labels.get((pid, tid), "")) for pid, tid in merged.texts())
        return threads, np.array(numbers, dtype=np.int32)


_HOST_COLUMNS = ("start_ns", "end_ns", "name", "kind", "thread", "correlation", "external", "sequence")
_DEVICE_COLUMNS = (
    "start_ns", "end_ns", "name", "kind", "device", "stream", "correlation", "external", "bytes", "graph",
    "waits_on_stream", "waits_on_correlation",
)  # fmt: skip
_FLOW_COLUMNS = ("time_ns", "kind", "begins", "id", "thread")
_MEMORY_COLUMNS = ("time_ns", "bytes", "allocated", "reserved", "device")


def _placed(event: Event) -> bool:
    return event.ts is not None and -LARGEST_TIME_US < event.ts < LARGEST_TIME_US


def _lasts(duration_us: float | None) -> bool:
    return duration_us is None or 0 <= duration_us < LARGEST_TIME_US


def _times(events: list[Event]) -> dict[str, npt.NDArray[Any]]:
    """Start in microseconds and duration in nanoseconds, until the trace's own start is known."""
    duration_us = np.fromiter((event.dur or 0.0 for event in events), np.float64, len(events))
    return {"start_ns": _stamps(events), "end_ns": np.rint(duration_us * 1000)}


def _stamps(events: list[Event]) -> npt.NDArray[np.float64]:
    return np.fromiter(map(_TS, events), np.float64, len(events))


def _origin_us(*tables: dict[str, npt.NDArray[Any]]) -> float:
    """The first start, so that the trace begins at 0."""
    return min(float(table["start_ns"].min()) for table in tables if len(table["start_ns"]))


def _whole_ns(stamp_us: float) -> int:
    """Microseconds as nanoseconds, without losing to the float what its fraction still holds."""
    whole = int(stamp_us // 1)
    return whole * 1000 + round((stamp_us - whole) * 1000)


def _to_ns(stamp_us: npt.NDArray[Any], origin_us: float) -> npt.NDArray[np.int64]:
    return np.rint((stamp_us - origin_us) * 1000).astype(np.int64)


def _place(table: dict[str, npt.NDArray[Any]], origin_us: float) -> None:
    table["start_ns"] = _to_ns(table["start_ns"], origin_us)
    table["end_ns"] = table["start_ns"] + table["end_ns"].astype(np.int64)


def _joined(
    pieces: list[dict[str, npt.NDArray[Any]]], columns: tuple[str, ...]
) -> dict[str, npt.NDArray[Any]]:
    if not pieces:
        return {name: np.zeros(0) for name in columns}
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in columns}
    pieces.clear()
    return joined


def _ids(values: list[int | float | None]) -> npt.NDArray[np.int64]:
    try:
        return np.array([ABSENT if value is None else value for value in values], dtype=np.int64)
    except (OverflowError, ValueError):
        return np.array([as_id(value) for value in values], dtype=np.int64)


def _signed(value: float | None) -> int:
    return 0 if value is None or not abs(value) < building.LARGEST_ID else int(value)


def _integer(label: Label) -> int | None:
    """A label as a number, also ``stream 7`` and the text ``"7"``; None if it has none."""
    if isinstance(label, str):
        digits = label.removeprefix("stream").strip()
        return int(digits) if _INTEGER.match(digits) else None
    value = as_id(label)
    return None if value == ABSENT else value


def _small(number: int | None) -> int:
    return number if number is not None and 0 <= number < 1 << 31 else ABSENT


def _device_of(event: Event, args: EventArgs) -> int:
    return _small(_integer(args.device if args.device is not None else event.pid))


def _stream_of(event: Event, args: EventArgs) -> int:
    return as_id(_integer(args.stream if args.stream is not None else event.tid))


def _memory_device(args: EventArgs) -> int:
    return _small(_integer(args.device_id)) if args.device_type else ABSENT


def _thread_key(event: Event) -> tuple[Label, Label]:
    return (event.pid, event.tid)


def _plain(label: Label) -> int | str:
    number = _integer(label)
    return number if number is not None else str(label)


def _renumber(by_row: dict[int, str], order: npt.NDArray[np.intp]) -> dict[int, str]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return {int(place[row]): value for row, value in by_row.items()}


def _collectives(by_row: dict[int, EventArgs], order: npt.NDArray[np.intp]) -> tuple[Collective, ...]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    found = [_collective(int(place[row]), args) for row, args in by_row.items()]
    return tuple(sorted(found, key=lambda one: one.row))


def _collective(row: int, args: EventArgs) -> Collective:
    return Collective(
        row=row,
        operation=args.collective,
        group=None if args.group is None else str(args.group),
        group_size=_integer(args.group_size),
        in_elements=_integer(args.in_elements),
        out_elements=_integer(args.out_elements),
        dtype=args.dtype,
    )


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
