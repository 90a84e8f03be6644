"""Keeps the columns of a trace as Arrow files, so that its JSON is parsed once.

A folder holds ``host.arrow``, ``device.arrow``, ``flows.arrow``, ``memory.arrow`` and ``trace.json`` (names,
threads, where it comes from). What is written reads back equal.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import ipc

from ..arrow import to_table
from ..errors import InputError
from .columns import Collective, DeviceSpans, Flows, HostSpans, MemoryEvents, Thread, Trace, TraceInfo

TableT = TypeVar("TableT", HostSpans, DeviceSpans, Flows, MemoryEvents)


class _Rest(msgspec.Struct):
    """Everything of a trace but its tables."""

    info: TraceInfo
    names: tuple[str, ...]
    threads: tuple[Thread, ...]
    duration_ns: int
    collectives: tuple[Collective, ...]
    shapes: dict[int, str]


def write_columns(trace: Trace, folder: Path) -> None:
    """Write a trace's columns into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("host", "device", "flows", "memory"):
        _write_table(getattr(trace, name), folder / f"{name}.arrow")
    rest = _Rest(
        trace.info, trace.names, trace.threads, trace.duration_ns, trace.collectives, dict(trace.shapes)
    )
    (folder / "trace.json").write_bytes(msgspec.json.encode(rest))


def read_columns(folder: Path) -> Trace:
    """Read what `write_columns` wrote.

    Raises:
        InputError: a file is missing or damaged.
    """
    try:
        rest = msgspec.json.decode((folder / "trace.json").read_bytes(), type=_Rest)
        return Trace(
            info=rest.info,
            names=rest.names,
            threads=rest.threads,
            host=_read_table(HostSpans, folder / "host.arrow"),
            device=_read_table(DeviceSpans, folder / "device.arrow"),
            flows=_read_table(Flows, folder / "flows.arrow"),
            memory=_read_table(MemoryEvents, folder / "memory.arrow"),
            duration_ns=rest.duration_ns,
            collectives=rest.collectives,
            shapes=rest.shapes,
        )
    except (OSError, pa.ArrowException, msgspec.MsgspecError, KeyError, ValueError) as error:
        raise InputError(f"{folder} holds no readable columns ({error}): import the trace again") from None


def _write_table(table: Any, path: Path) -> None:
    names = [field.name for field in dataclasses.fields(table)]
    batch = to_table({name: _plain(getattr(table, name)) for name in names})
    options = ipc.IpcWriteOptions(compression="lz4")
    with ipc.new_file(str(path), batch.schema, options=options) as writer:
        writer.write_table(batch)


def _read_table(kind: type[TableT], path: Path) -> TableT:
    table = ipc.open_file(path.read_bytes()).read_all()
    return kind(
        **{field.name: _column(field.name, table.column(field.name)) for field in dataclasses.fields(kind)}
    )


def _plain(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Masks as 0 and 1."""
    return column.view(np.uint8) if column.dtype == np.bool_ else column


def _column(name: str, column: Any) -> np.ndarray[Any, Any]:
    """A column over the table's memory: `numpy.asarray` of an Arrow array would import pandas first."""
    if column.type not in _TYPES.values():
        raise ValueError(f"column {name} is of type {column.type}")
    kind = np.dtype(str(column.type))
    chunks = [_values(chunk, kind) for chunk in column.chunks]
    values = chunks[0] if len(chunks) == 1 else np.concatenate([np.zeros(0, kind), *chunks])
    return values.astype(np.bool_) if name in _MASKS else values


def _values(chunk: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if chunk.null_count:
        raise ValueError("a column has empty cells")
    if not len(chunk):
        return np.zeros(0, kind)
    return np.frombuffer(chunk.buffers()[1], kind, len(chunk), chunk.offset * kind.itemsize)


_TYPES = {"int64": pa.int64(), "int32": pa.int32(), "uint8": pa.uint8()}
_MASKS = frozenset({"begins"})
