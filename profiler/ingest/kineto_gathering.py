"""Gathers the values of decoded Chrome-trace events, piece by piece, into the columns of a `Trace`.

A trace has a million events, so they are gone through a column at a time, each by one short comprehension; a
loop with a body runs only over events of rare kinds. Event objects live only as long as their piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from . import building
from .building import Interner, as_id
from .columns import ABSENT, I64, Collective, HostKind, Mask, Thread, Trace, TraceInfo
from .kineto_events import (
    CONVOLUTION_OPS,
    DEVICE_CATEGORIES,
    FLOW_KINDS,
    HOST_CATEGORIES,
    SHAPED_OPS,
    Event,
    EventArgs,
    Label,
    is_annotation,
    kind_without_category,
)

LARGEST_TIME_US = 4e15
"""Beyond 126 years a stamp is no time; the bound also keeps nanoseconds within 64 bits."""

F64 = npt.NDArray[np.float64]
Columns = dict[str, npt.NDArray[Any]]

_SPAN, _BEGIN, _END, _INSTANT, _META, _OPEN_ENDED, _OTHER_PHASE = range(7)
_DEVICE, _UNCATEGORISED, _UNKNOWN = 32, 64, 65
"""Codes of categories: the `HostKind`, or from `_DEVICE` on the `DeviceKind`."""

_SHAPED = (*SHAPED_OPS, *CONVOLUTION_OPS)
_NO_ARGS = EventArgs()
_INTEGER = re.compile(r"-?\d{1,18}$")


class _Codes(dict[Any, int]):
    """Numbers for words; what is not among them has the number ``other``."""

    def __init__(self, codes: Mapping[Any, int], other: int) -> None:
        super().__init__(codes)
        self._other = other

    def __missing__(self, word: Any) -> int:
        return self._other

    def column(self, words: list[Any]) -> npt.NDArray[np.uint8]:
        """The numbers of words."""
        return np.frombuffer(bytearray(map(self.__getitem__, words)), np.uint8)


_PHASES = _Codes(
    {"X": _SPAN, "s": _BEGIN, "f": _END, "i": _INSTANT, "M": _META, "B": _OPEN_ENDED, "E": _OPEN_ENDED},
    _OTHER_PHASE,
)
_CATEGORIES = _Codes(
    {
        **HOST_CATEGORIES,
        **{name: _DEVICE + kind for name, kind in DEVICE_CATEGORIES.items()},
        None: _UNCATEGORISED,
    },
    _UNKNOWN,
)
_FLOWS = _Codes(FLOW_KINDS, _UNKNOWN)


class Gathered:
    """Columns of all events so far, as lists of arrays, one per piece."""

    def __init__(self) -> None:
        self.names = Interner()
        self.threads = Interner()
        self.labels: dict[tuple[Any, Any], str] = {}
        self.host: list[Columns] = []
        self.device: list[Columns] = []
        self.flows: list[Columns] = []
        self.memory: list[Columns] = []
        self.collectives: dict[int, Collective] = {}
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
        phase = _PHASES.column([event.ph for event in events])
        self._add_spans(_picked(events, phase == _SPAN))
        self._add_flows(_picked(events, (phase == _BEGIN) | (phase == _END)))
        self._add_memory(_picked(events, phase == _INSTANT))
        for event in _picked(events, phase == _META):
            self._label(event)
        self.open_ended += int((phase == _OPEN_ENDED).sum())

    def _label(self, event: Event) -> None:
        if event.name == "thread_name" and event.args is not None and event.args.name is not None:
            self.labels[(event.pid, event.tid)] = str(event.args.name)

    def _add_spans(self, spans: list[Event]) -> None:
        code = _CATEGORIES.column([event.cat for event in spans])
        for place in np.flatnonzero(code == _UNCATEGORISED).tolist():
            kind = kind_without_category(spans[place])
            code[place] = kind if isinstance(kind, HostKind) else _DEVICE + kind
        start_us, duration_us = _stamps(spans), _durations(spans)
        placed = _placed(start_us) & (duration_us >= 0) & (duration_us < LARGEST_TIME_US)
        self.unplaced += int(((code != _UNKNOWN) & ~placed).sum())
        times = {"start_ns": start_us, "end_ns": np.rint(duration_us * 1000)}
        on_device = code >= _DEVICE
        host = placed & ~on_device
        device = placed & on_device & (code != _UNKNOWN)
        if host.any():
            self._add_host(_picked(spans, host), _rows(times | {"kind": code}, host))
        if device.any():
            self._add_device(_picked(spans, device), _rows(times | {"kind": code - _DEVICE}, device))

    def _add_host(self, events: list[Event], columns: Columns) -> None:
        args = _args_of(events)
        columns["name"] = self.names.column([event.name for event in events])
        columns["thread"] = self._thread_ids(events)
        columns["correlation"] = _ids([one.correlation for one in args])
        columns["external"] = _external(args)
        columns["sequence"] = _ids([one.sequence for one in args])
        self.host.append(columns)
        self._keep_shapes(columns["name"], args)
        self.host_count += len(events)

    def _thread_ids(self, events: list[Event]) -> npt.NDArray[np.int32]:
        return self.threads.column([(event.pid, event.tid) for event in events])

    def _keep_shapes(self, names: npt.NDArray[Any], args: list[EventArgs]) -> None:
        shaped = [self.names.ids[name] for name in _SHAPED if name in self.names.ids]
        for place in np.flatnonzero(np.isin(names, shaped)).tolist():
            one = args[place]
            if shapes := bytes(one.shapes).decode("utf-8", "replace"):
                types = bytes(one.types).decode("utf-8", "replace") or "[]"
                self.shapes[self.host_count + place] = f"[{shapes},{types}]"

    def _add_device(self, events: list[Event], columns: Columns) -> None:
        args = _args_of(events)
        columns["name"] = self.names.column([event.name for event in events])
        columns["device"] = np.array([_device_of(*pair) for pair in zip(events, args, strict=True)], np.int64)
        columns["stream"] = np.array([_stream_of(*pair) for pair in zip(events, args, strict=True)], np.int64)
        columns["external"] = _external(args)
        columns["correlation"] = _ids([one.correlation for one in args])
        columns["bytes"] = _ids([one.bytes for one in args])
        columns["graph"] = _ids([one.graph for one in args])
        columns["waits_on_stream"] = _ids([one.waits_on_stream for one in args])
        columns["waits_on_correlation"] = _ids([one.waits_on_correlation for one in args])
        self.device.append(columns)
        for row, one in enumerate(args, self.device_count):
            if one.collective is not None:
                self.collectives[row] = _collective(row, one)
        self.device_count += len(events)

    def _add_flows(self, events: list[Event]) -> None:
        kind, time_us = _FLOWS.column([event.cat for event in events]), _stamps(events)
        kept = (kind != _UNKNOWN) & _placed(time_us)
        if not kept.any():
            return
        flows = _picked(events, kept)
        columns = _rows({"time_ns": time_us, "kind": kind}, kept)
        columns["begins"] = np.array([event.ph == "s" for event in flows], np.bool_)
        columns["id"] = _numbers([event.id for event in flows], lambda label: as_id(_integer(label)))
        columns["thread"] = self._thread_ids(flows)
        self.flows.append(columns)

    def _add_memory(self, events: list[Event]) -> None:
        named = [event.name == "[memory]" and event.args is not None for event in events]
        instants = list(compress(events, named))
        time_us = _stamps(instants)
        placed = _placed(time_us)
        if not placed.any():
            return
        args = _args_of(_picked(instants, placed))
        on_device = np.array([bool(one.device_type) for one in args], np.bool_)
        device = _numbers([one.device_id for one in args], lambda label: _small(_integer(label)))
        columns = {
            "time_ns": time_us[placed],
            "bytes": _numbers([one.memory_bytes for one in args], _signed),
            "allocated": _ids([one.allocated for one in args]),
            "reserved": _ids([one.reserved for one in args]),
            "device": np.where(on_device & (device >= 0) & (device < 1 << 31), device, ABSENT),
        }
        self.memory.append(columns)

    def trace(self, info: Callable[[int], TraceInfo]) -> Trace | None:
        """The columns of everything gathered; None if that is nothing.

        ``info`` gets the nanoseconds of the first start on the clock of the file.
        """
        if not self.host and not self.device:
            return None
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
            info=info(_whole_ns(origin_us)),
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

    def _mark_annotations(self, host: Columns) -> None:
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


def _picked(events: list[Event], wanted: Mask) -> list[Event]:
    return list(compress(events, wanted.tolist()))


def _rows(columns: Columns, wanted: Mask) -> Columns:
    return {name: column[wanted] for name, column in columns.items()}


def _args_of(events: list[Event]) -> list[EventArgs]:
    return [event.args or _NO_ARGS for event in events]


def _placed(time_us: F64) -> Mask:
    return np.abs(time_us) < LARGEST_TIME_US


def _stamps(events: list[Event]) -> F64:
    """Times in microseconds, NaN where an event has none."""
    return np.array([event.ts for event in events], np.float64)


def _durations(events: list[Event]) -> F64:
    """Durations in microseconds; 0 where an event has none."""
    return np.array([event.dur or 0.0 for event in events], np.float64)


def _external(args: list[EventArgs]) -> I64:
    found = _ids([one.external for one in args])
    return np.where(found == ABSENT, _ids([one.external_old for one in args]), found)


def _ids(values: list[Any]) -> I64:
    return _numbers(values, as_id)


def _numbers(values: list[Any], number: Callable[[Any], int]) -> I64:
    """Whole numbers as a column; ``number`` makes one of a value of another type."""
    if set(map(type, values)) == {int}:  # one text among them would make every cell as wide as itself
        column = np.array(values)
        if column.dtype == np.int64:
            return column
    return np.array([number(value) for value in values], dtype=np.int64)


def _origin_us(*tables: Columns) -> float:
    """The first start, so that the trace begins at 0."""
    return min(float(table["start_ns"].min()) for table in tables if len(table["start_ns"]))


def _whole_ns(stamp_us: float) -> int:
    """Microseconds as nanoseconds, without losing to the float what its fraction still holds."""
    whole = int(stamp_us // 1)
    return whole * 1000 + round((stamp_us - whole) * 1000)


def _to_ns(stamp_us: npt.NDArray[Any], origin_us: float) -> I64:
    return np.rint((stamp_us - origin_us) * 1000).astype(np.int64)


def _place(table: Columns, origin_us: float) -> None:
    table["start_ns"] = _to_ns(table["start_ns"], origin_us)
    table["end_ns"] = table["start_ns"] + table["end_ns"].astype(np.int64)


def _joined(pieces: list[Columns], columns: tuple[str, ...]) -> Columns:
    if not pieces:
        return {name: np.zeros(0) for name in columns}
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in columns}
    pieces.clear()
    return joined


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


def _plain(label: Label) -> int | str:
    number = _integer(label)
    return number if number is not None else str(label)


def _renumber(by_row: dict[int, str], order: npt.NDArray[np.intp]) -> dict[int, str]:
    place = _places(order)
    return {int(place[row]): value for row, value in by_row.items()}


def _collectives(by_row: dict[int, Collective], order: npt.NDArray[np.intp]) -> tuple[Collective, ...]:
    place = _places(order)
    found = [replace(one, row=int(place[row])) for row, one in by_row.items()]
    return tuple(sorted(found, key=lambda one: one.row))


def _places(order: npt.NDArray[np.intp]) -> I64:
    """Where each gathered row comes to stand."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


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
