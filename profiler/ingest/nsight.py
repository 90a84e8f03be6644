"""Reads SQLite exports of Nsight Systems (``nsys export --type sqlite``) into the columns of a `Trace`.

An export may hold several processes, such as all ranks of a launcher. A `Trace` is one, and CUDA's correlation ids are
unique only within one, so the process with most device work is read and a note tells of the others.

Only the tables that are there are read; the database is opened read-only and nothing in it is executed.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from . import building
from .building import Interner, as_id
from .columns import ABSENT, NSIGHT, DeviceKind, DeviceModel, HostKind, Thread, Trace, TraceInfo
from .source import GZIP_MAGIC, Progress, Source, no_progress, open_file

MAX_ROWS = 50_000_000
_VERSION_SUFFIX = re.compile(r"_v\d+$")
_COPY_NAMES = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}
_MEMORY_NAMES = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"}
_ID_BITS = 0xFFFFFF
"""The bits of a process's and of a thread's number within a global id."""
_WORK_TABLES = ("KERNEL", "GRAPH_TRACE", "MEMCPY", "MEMSET")
_NVTX_RANGES = (59, 60, 70, 71)
"""Event types of pushed/popped and started/ended ranges, with and without payload."""

_DEVICE_COLUMNS = (
    "start_ns", "end_ns", "name", "kind", "device", "stream", "correlation", "external", "bytes", "graph",
    "waits_on_stream", "waits_on_correlation",
)  # fmt: skip
_HOST_COLUMNS = ("start_ns", "end_ns", "name", "kind", "thread", "correlation", "external", "sequence")


def read_nsight(path: Path, *, progress: Progress = no_progress) -> Trace:
    """Read an export, plain or gzip.

    Raises:
        InputError: the database is damaged or holds neither device work nor CUDA calls.
    """
    with _database(path, progress) as connection:
        try:
            return _Export(connection, path).trace()
        except sqlite3.Error as error:
            raise InputError(f"{path} is a damaged Nsight Systems export: {error}") from None


@contextmanager
def _database(path: Path, progress: Progress) -> Generator[sqlite3.Connection, None, None]:
    with tempfile.TemporaryDirectory(prefix="trainrx-") as folder:
        plain = path if _is_plain(path) else _unpacked(path, Path(folder) / "export.sqlite", progress)
        uri = f"{plain.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.text_factory = _text
            yield connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_plain(path: Path) -> bool:
    with open_file(path) as file:
        return file.read(2) != GZIP_MAGIC


def _unpacked(path: Path, target: Path, progress: Progress) -> Path:
    with Source(path, progress=progress) as source, target.open("wb") as file:
        while block := source.read():
            if shutil.disk_usage(target.parent).free < 1 << 28:
                raise InputError(
                    f"{path} cannot be unpacked: the temporary folder is full, unpack it elsewhere first"
                )
            file.write(block)
    return target


class _Export:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._names = Interner()
        self._threads = Interner()
        self._tables = {
            str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        }
        self._processes = self._device_rows_by_process()
        self._strings = dict(self._rows("StringIds", ("id", "value")))

    def _rows(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """The named columns of a table, of the one process that is read where several are there; a column that the
        table lacks is None; nothing if there is no such table.
        """
        present = self._columns_of(table)
        if not present:
            return
        chosen = ", ".join(f'"{name}"' if name in present else "NULL" for name in columns)
        of_process = ""
        owner = next((name for name in ("globalPid", "globalTid") if name in present), None)
        if owner is not None and len(self._processes) > 1:
            of_process = f'WHERE "{owner}" >> 24 = {self._busiest}'
        yield from self._connection.execute(f'SELECT {chosen} FROM "{table}" {of_process} LIMIT {MAX_ROWS}')

    def _columns_of(self, table: str) -> set[str]:
        if table not in self._tables:
            return set()
        return {str(row[1]) for row in self._connection.execute(f'PRAGMA table_info("{table}")')}

    def _device_rows_by_process(self) -> Counter[int]:
        """Rows of device work by what global ids of a process have above the bits of the thread."""
        counts: Counter[int] = Counter()
        for table in (f"CUPTI_ACTIVITY_KIND_{name}" for name in _WORK_TABLES):
            if "globalPid" in self._columns_of(table):
                counts.update(
                    dict(
                        self._connection.execute(
                            f'SELECT "globalPid" >> 24, COUNT(*) FROM "{table}" '
                            "WHERE typeof(\"globalPid\") = 'integer' GROUP BY 1"
                        ).fetchall()
                    )
                )
        return counts

    @property
    def _busiest(self) -> int:
        return self._processes.most_common(1)[0][0]

    def _notes(self) -> tuple[str, ...]:
        if len(self._processes) < 2:
            return ()
        return (
            f"the export holds {len(self._processes)} processes with device work; only process "
            f"{self._busiest & _ID_BITS}, which has most of it, was read: run nsys in each rank to see all",
        )

    def trace(self) -> Trace:
        host = _stacked([*self._calls(), *self._ranges()], _HOST_COLUMNS)
        device = _stacked(
            [*self._kernels(), *self._copies(), *self._memsets(), *self._syncs()], _DEVICE_COLUMNS
        )
        starts = [int(table["start_ns"].min()) for table in (host, device) if len(table["start_ns"])]
        if not starts:
            raise InputError(
                f"{self._path} holds neither device work nor CUDA calls: "
                "record with nsys profile --trace=cuda,nvtx"
            )
        for table in (host, device):
            table["start_ns"] = table["start_ns"] - min(starts)
            table["end_ns"] = table["end_ns"] - min(starts)
        host_table, _ = building.host_spans(host)
        device_table, _ = building.device_spans(device)
        return Trace(
            info=self._info(min(starts)),
            names=self._names.texts(),
            threads=tuple(Thread(pid, tid) for pid, tid in self._threads.texts()),
            host=host_table,
            device=device_table,
            flows=building.flows(
                {name: np.zeros(0) for name in ("time_ns", "kind", "begins", "id", "thread")}
            ),
            memory=building.memory_events(
                {name: np.zeros(0) for name in ("time_ns", "bytes", "allocated", "reserved", "device")}
            ),
            duration_ns=max(int(table.end_ns.max()) for table in (host_table, device_table) if len(table)),
        )

    def _name(self, number: Any) -> int:
        text = self._strings.get(number)
        return self._names.id(_VERSION_SUFFIX.sub("", text) if isinstance(text, str) else "unnamed")

    def _thread(self, number: Any) -> int:
        value = as_id(number) if isinstance(number, int) else 0
        return self._threads.id((value >> 24 & _ID_BITS, value & _ID_BITS))

    def _calls(self) -> Iterator[tuple[Any, ...]]:
        columns = ("start", "end", "nameId", "globalTid", "correlationId")
        for start, end, name, thread, correlation in self._rows("CUPTI_ACTIVITY_KIND_RUNTIME", columns):
            if _is_span(start, end):
                kind = (
                    HostKind.DRIVER if str(self._strings.get(name, "")).startswith("cu") else HostKind.RUNTIME
                )
                kind = HostKind.RUNTIME if str(self._strings.get(name, "")).startswith("cuda") else kind
                yield (
                    start,
                    end,
                    self._name(name),
                    kind,
                    self._thread(thread),
                    as_id(correlation),
                    ABSENT,
                    ABSENT,
                )

    def _ranges(self) -> Iterator[tuple[Any, ...]]:
        columns = ("start", "end", "text", "textId", "globalTid", "eventType")
        for start, end, text, number, thread, kind in self._rows("NVTX_EVENTS", columns):
            if _is_span(start, end) and kind in _NVTX_RANGES:
                label = text if isinstance(text, str) else self._strings.get(number, "unnamed")
                name = self._names.id(str(label))
                yield (start, end, name, HostKind.ANNOTATION, self._thread(thread), ABSENT, ABSENT, ABSENT)

    def _kernels(self) -> Iterator[tuple[Any, ...]]:
        columns = ("start", "end", "demangledName", "deviceId", "streamId", "correlationId", "graphNodeId")
        for start, end, name, device, stream, correlation, graph in self._rows(
            "CUPTI_ACTIVITY_KIND_KERNEL", columns
        ):
            if _is_span(start, end):
                yield _device_row(
                    (start, end),
                    self._name(name),
                    DeviceKind.KERNEL,
                    (device, stream, correlation),
                    graph=graph,
                )
        columns = ("start", "end", "deviceId", "streamId", "correlationId", "graphId")
        for start, end, device, stream, correlation, graph in self._rows(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns
        ):
            if _is_span(start, end):
                name = self._names.id("CUDA graph")
                yield _device_row(
                    (start, end), name, DeviceKind.KERNEL, (device, stream, correlation), graph=graph
                )

    def _copies(self) -> Iterator[tuple[Any, ...]]:
        columns = (
            "start",
            "end",
            "copyKind",
            "srcKind",
            "dstKind",
            "deviceId",
            "streamId",
            "correlationId",
            "bytes",
        )
        for start, end, kind, origin, target, *place, size in self._rows(
            "CUPTI_ACTIVITY_KIND_MEMCPY", columns
        ):
            if _is_span(start, end):
                ends = f"({_MEMORY_NAMES.get(origin, 'unknown')} -> {_MEMORY_NAMES.get(target, 'unknown')})"
                name = self._names.id(f"Memcpy {_COPY_NAMES.get(kind, 'other')} {ends}")
                yield _device_row((start, end), name, DeviceKind.MEMCPY, place, size=size)

    def _memsets(self) -> Iterator[tuple[Any, ...]]:
        columns = ("start", "end", "deviceId", "streamId", "correlationId", "bytes")
        for start, end, *place, size in self._rows("CUPTI_ACTIVITY_KIND_MEMSET", columns):
            if _is_span(start, end):
                yield _device_row(
                    (start, end), self._names.id("Memset (Device)"), DeviceKind.MEMSET, place, size=size
                )

    def _syncs(self) -> Iterator[tuple[Any, ...]]:
        columns = ("start", "end", "deviceId", "streamId", "correlationId")
        for start, end, *place in self._rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns):
            if _is_span(start, end):
                yield _device_row((start, end), self._names.id("Synchronization"), DeviceKind.SYNC, place)

    def _info(self, origin_ns: int) -> TraceInfo:
        models = [
            DeviceModel(
                as_id(number),
                str(name),
                total_memory_bytes=memory if isinstance(memory, int) and memory > 0 else None,
            )
            for number, name, memory in self._rows("TARGET_INFO_GPU", ("id", "name", "totalMemory"))
        ]
        return TraceInfo(
            source=str(self._path),
            format=NSIGHT,
            origin_ns=origin_ns,
            vendor="NVIDIA",
            devices=tuple(models),
            notes=self._notes(),
        )


def _is_span(start: Any, end: Any) -> bool:
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < 1 << 61


def _device_row(
    times: tuple[int, int],
    name: int,
    kind: DeviceKind,
    place: Sequence[Any],
    *,
    size: Any = None,
    graph: Any = None,
) -> tuple[Any, ...]:
    """A row for `_DEVICE_COLUMNS`; ``place`` is device, stream and correlation as the table has them."""
    device, stream, correlation = place
    ids = [
        as_id(value if isinstance(value, int) else None) for value in (stream, correlation, None, size, graph)
    ]
    small = device if isinstance(device, int) and 0 <= device < 1 << 31 else ABSENT
    return (*times, name, kind, small, *ids, ABSENT, ABSENT)


def _stacked(rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> dict[str, npt.NDArray[np.int64]]:
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(columns))
    return {name: table[:, place] for place, name in enumerate(columns)}
