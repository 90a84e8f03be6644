"""Reads metric series from CSV: NVML samples per device, energy per window, or any table with numbers in
columns.
"""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ..errors import InputError
from .metric_cells import csv_cells
from .recordings import Metric, MetricSeries
from .source import Progress, Source, no_progress

LIMIT_BYTES = 512 << 20
_DEVICE_COLUMN = re.compile(r"^(gpu|device)(_?(index|id))?$|^index$", re.IGNORECASE)
_DEVICE_IN_NAME = re.compile(r"gpu_?(\d+)", re.IGNORECASE)
_TIME_COLUMN = re.compile(r"^(timestamp|time|start_time)", re.IGNORECASE)
_Numbers = dict[str, "dict[int | None, array[float]]"]


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
        text = source.read_all(limit_bytes=LIMIT_BYTES).decode("utf-8-sig", "replace")
    rows, found = _by_name(text, str(path))
    metrics = tuple(_metrics(found))
    if not metrics:
        raise InputError(f"{path} is a CSV without any column of numbers: a series of metrics was expected")
    return MetricSeries(source=str(path), rows=rows, metrics=metrics)


def _by_name(text: str, source: str) -> tuple[int, _Numbers]:
    """How many rows there are, and the finite numbers of each column by the device that their row names."""
    rows = 0
    found: _Numbers = {}
    for _, cells in groupby(csv_cells(text, source).cells, key=itemgetter(0)):
        row = {name: value for _, name, value in cells if math.isfinite(value)}
        rows += 1
        device = next((int(row[name]) for name in row if _DEVICE_COLUMN.match(name)), None)
        for name, value in row.items():
            found.setdefault(name, {}).setdefault(device, array("d")).append(value)
    return rows, found


def _metrics(found: _Numbers) -> Iterator[Metric]:
    for name, by_device in found.items():
        if _DEVICE_COLUMN.match(name) or _TIME_COLUMN.match(name):
            continue
        for device, values in sorted(by_device.items(), key=lambda item: -1 if item[0] is None else item[0]):
            owner = _device_in(name) if device is None else device
            yield Metric(name, owner, sum(values) / len(values), min(values), max(values))


def _device_in(name: str) -> int | None:
    found = _DEVICE_IN_NAME.search(name)
    return int(found.group(1)) if found else None
