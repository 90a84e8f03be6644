"""Turns lists of values gathered by a reader into the sorted columns of a `Trace`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import ABSENT, DeviceSpans, Flows, HostSpans, MemoryEvents

LARGEST_ID = 1 << 62


class Interner:
    """Numbers for texts, in order of first appearance."""

    def __init__(self) -> None:
        self.ids: dict[Any, int] = _Numbered()

    def id(self, text: Any) -> int:
        """The number of a text."""
        return self.ids[text]

    def column(self, texts: list[Any]) -> npt.NDArray[np.int32]:
        """The numbers of texts."""
        return np.array(list(map(self.ids.__getitem__, texts)), dtype=np.int32)

    def texts(self) -> tuple[Any, ...]:
        """All texts, by number."""
        return tuple(self.ids)


class _Numbered(dict[Any, int]):
    """Gives every new key the next number."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


def as_id(value: float | str | None) -> int:
    """An id or size as a column holds it; `ABSENT` for None, for text, and for what no 62-bit integer
    holds.
    """
    if value is None or isinstance(value, str):
        return ABSENT
    return int(value) if -LARGEST_ID < value < LARGEST_ID else ABSENT


def host_spans(columns: dict[str, npt.NDArray[Any]]) -> tuple[HostSpans, npt.NDArray[np.intp]]:
    """Host spans in order, and for each row its place in ``columns``."""
    order = _order(columns["start_ns"], columns["end_ns"])
    types = {"name": np.int32, "kind": np.uint8, "thread": np.int32}
    return HostSpans(**_sorted(columns, order, types)), order


def device_spans(columns: dict[str, npt.NDArray[Any]]) -> tuple[DeviceSpans, npt.NDArray[np.intp]]:
    """Device spans in order, and for each row its place in ``columns``."""
    order = _order(columns["start_ns"], columns["end_ns"])
    types = {"name": np.int32, "kind": np.uint8, "device": np.int32}
    return DeviceSpans(**_sorted(columns, order, types)), order


def flows(columns: dict[str, npt.NDArray[Any]]) -> Flows:
    """Flows in order of time."""
    order = np.argsort(columns["time_ns"], kind="stable")
    return Flows(**_sorted(columns, order, {"kind": np.uint8, "begins": np.bool_, "thread": np.int32}))


def memory_events(columns: dict[str, npt.NDArray[Any]]) -> MemoryEvents:
    """Memory events in order of time."""
    order = np.argsort(columns["time_ns"], kind="stable")
    return MemoryEvents(**_sorted(columns, order, {"device": np.int32}))


def _order(start_ns: npt.NDArray[Any], end_ns: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    return np.lexsort((-end_ns, start_ns))


def _sorted(
    columns: dict[str, npt.NDArray[Any]], order: npt.NDArray[np.intp], types: dict[str, Any]
) -> dict[str, Any]:
    return {
        name: column[order].astype(types.get(name, np.int64), copy=False) for name, column in columns.items()
    }
