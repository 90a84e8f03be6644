"""Metrics that a script wrote while it trained, as columns of numbers: from CSV, JSON lines or a trainer's state.

Knows nothing of what a column means. What the file leaves out is left out here; a NaN that it holds is kept, because it
tells of a training that broke.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .metric_cells import csv_cells, json_cells
from .source import Source

#: The largest metric file, unpacked; a million rows of three numbers fit.
LIMIT_BYTES = 32 << 20
MAX_ROWS = 1_000_000
MAX_COLUMNS = 512
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")

F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """The numbers of one column: ``rows`` (int64, increasing) says in which rows they stand. Shapes (n,)."""

    rows: NDArray[np.int64]
    values: F64


@dataclass(frozen=True, eq=False)
class MetricTable:
    """A metric file.

    Attributes:
        source: the file's name, for messages.
        columns: by name, in the file's order; only columns that hold a number.
        planned_steps: how many steps the schedule was made for, where the file tells.
        notes: what of it was derived or left out, one sentence each.
    """

    source: str
    columns: Mapping[str, Column]
    planned_steps: float | None = None
    notes: tuple[str, ...] = ()


def read_metric_table(path: Path) -> MetricTable:
    """Read a metric file, plain or gzip.

    Raises:
        InputError: it cannot be read, is too large, or holds no column of numbers.
    """
    with Source(path) as source:
        content = source.read_all(limit_bytes=LIMIT_BYTES)
        if source.damage is not None:
            raise InputError(f"{path}: {source.damage}")
    return parse_metric_table(content, source=str(path))


def parse_metric_table(content: bytes, *, source: str) -> MetricTable:
    """Parse a metric file's content; ``source`` names it in errors, its form is told by its first sign.

    Raises:
        InputError: it is too large, or holds no column of numbers.
    """
    if len(content) > LIMIT_BYTES:
        raise InputError(f"{source} is larger than {LIMIT_BYTES >> 20} MiB: log fewer rows, or cut it")
    text = content.decode("utf-8-sig", "replace")
    cells = json_cells(text, source) if text.lstrip()[:1] in ("{", "[") else csv_cells(text, source)
    columns = {name: column for name, column in _columns(_limited(cells.cells, source)) if name}
    if not any(bool(np.any(np.isfinite(column.values))) for column in columns.values()):
        raise InputError(
            f"{source} holds no column of numbers: expected a CSV with a header, JSON lines, Lightning's metrics.csv "
            "or Transformers' trainer_state.json"
        )
    return MetricTable(source, columns, cells.planned_steps, cells.notes)


def _limited(cells: Iterable[tuple[int, str, float]], source: str) -> Iterator[tuple[int, str, float]]:
    names: set[str] = set()
    for row, name, value in cells:
        names.add(name)
        if row >= MAX_ROWS or len(names) > MAX_COLUMNS:
            raise InputError(
                f"{source} has more than {MAX_ROWS:,} rows or {MAX_COLUMNS} columns: log fewer, or cut it"
            )
        yield row, name, value


def _columns(cells: Iterable[tuple[int, str, float]]) -> Iterator[tuple[str, Column]]:
    found: dict[str, tuple[list[int], list[float]]] = {}
    for row, name, value in cells:
        rows, values = found.setdefault(name, ([], []))
        rows.append(row)
        values.append(value)
    for name, (rows, values) in found.items():
        yield name, Column(np.asarray(rows, dtype=np.int64), np.asarray(values, dtype=np.float64))
