"""Reads metric series from CSV: NVML samples per device, energy per window, or any table with numbers in
columns.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from ..errors import InputError
from .recordings import Metric, MetricSeries
from .source import Progress, Source, no_progress

LIMIT_BYTES = 512 << 20
MAX_COLUMNS = 512
_DEVICE_COLUMN = re.compile(r"^(gpu|device)(_?(index|id))?$|^index$", re.IGNORECASE)
_DEVICE_IN_NAME = re.compile(r"gpu_?(\d+)", re.IGNORECASE)
_TIME_COLUMN = re.compile(r"^(timestamp|time|start_time)", re.IGNORECASE)


def looks_like_metrics(head: str) -> bool:
    """Whether the first lines of a text are a CSV header with a time column and a row of as many fields."""
    lines = [line for line in head.splitlines() if line.strip()][:2]
    if len(lines) < 2:
        return False
    try:
        header, row = (next(csv.reader([line], skipinitialspace=True), list[str]()) for line in lines)
    except csv.Error:  # such as a NUL, before Python 3.11
        return False
    return len(header) > 1 and len(header) == len(row) and any(_TIME_COLUMN.match(name) for name in header)


def read_metric_csv(path: Path, *, progress: Progress = no_progress) -> MetricSeries:
    """Read a CSV file, plain or gzip.

    Raises:
        InputError: it is no table with a header, or holds no number.
    """
    with Source(path, progress=progress) as source:
        text = source.read_all(limit_bytes=LIMIT_BYTES).decode("utf-8", "replace")
    try:
        rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True, restkey="", restval=""))
    except csv.Error as error:
        raise InputError(f"{path} is no readable CSV: {error}") from None
    names = list(rows[0])[:MAX_COLUMNS] if rows else []
    metrics = tuple(_metrics(rows, names))
    if not metrics:
        raise InputError(f"{path} is a CSV without any column of numbers: a series of metrics was expected")
    return MetricSeries(source=str(path), rows=len(rows), seconds=_seconds(rows, names), metrics=metrics)


def _metrics(rows: list[dict[str, str]], names: list[str]) -> Iterable[Metric]:
    device_column = next((name for name in names if _DEVICE_COLUMN.match(name)), None)
    for name in names:
        if name == device_column or _TIME_COLUMN.match(name):
            continue
        by_device: dict[int | None, list[float]] = {}
        for row in rows:
            value = _number(row.get(name, ""))
            if value is not None:
                by_device.setdefault(_device(row, device_column, name), []).append(value)
        for device, values in sorted(by_device.items(), key=lambda item: -1 if item[0] is None else item[0]):
            yield Metric(name, device, sum(values) / len(values), min(values), max(values), len(values))


def _device(row: dict[str, str], column: str | None, name: str) -> int | None:
    if column is not None:
        value = _number(row.get(column, ""))
        return None if value is None else int(value)
    found = _DEVICE_IN_NAME.search(name)
    return int(found.group(1)) if found else None


def _number(text: object) -> float | None:
    """A number, also with a unit behind it as nvidia-smi writes it; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        value = float(text.strip().split(" ")[0])
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _seconds(rows: list[dict[str, str]], names: list[str]) -> float | None:
    column = next((name for name in names if _TIME_COLUMN.match(name)), None)
    if column is None:
        return None
    first, last = (_stamp(row.get(column, "")) for row in (rows[0], rows[-1]))
    return None if first is None or last is None or last < first else last - first


def _stamp(text: str) -> float | None:
    number = _number(text)
    if number is not None and "-" not in text and ":" not in text:
        return number
    try:
        return datetime.fromisoformat(text.strip().replace("/", "-")).timestamp()
    except ValueError:
        return None
