"""Takes the text of a metric file apart into cells: row, name of the column, number."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from ..errors import InputError

#: Objects within objects are joined by ``/`` down to this depth, deeper ones are left out.
MAX_DEPTH = 3
MAX_NAME = 200
#: Entries of Transformers' log that hold for the whole training, with the name of what grows with the steps.
_TOTALS = {"total_flos": "total_flos", "train_runtime": "train_seconds"}

#: A number with a unit behind it, as nvidia-smi writes it.
_WITH_UNIT = re.compile(r"([-+]?\d+(?:\.\d+)?) (?:%|[kM]?W|m?J|°?C|[KMG]i?B(?:/s)?|[MG]?Hz|m?s|V)")

Cell = tuple[int, str, float]


@dataclass(frozen=True)
class Cells:
    """What a text holds; ``planned_steps`` and ``notes`` as in `MetricTable`."""

    cells: Iterable[Cell]
    planned_steps: float | None = None
    notes: tuple[str, ...] = ()


def csv_cells(text: str, source: str) -> Cells:
    """The numbers of a CSV or tab-separated text with a header, without their units; time stamps become seconds since
    1970.
    """
    return Cells(_csv(text, source))


def json_cells(text: str, source: str) -> Cells:
    """The numbers of JSON lines, of a list of objects, or of the log in Transformers' ``trainer_state.json``.

    Raises:
        InputError: it is no JSON of these.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return Cells(_rows(_lines(text, source)))
    if isinstance(whole, dict) and isinstance(whole.get("log_history"), list):
        return _trainer_state(cast("dict[str, Any]", whole))
    return Cells(_rows(cast("list[object]", whole) if isinstance(whole, list) else [whole]))


def number(value: object) -> float | None:
    """A JSON value as a number; NaN and infinities as they are; None for whatever is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _csv(text: str, source: str) -> Iterator[Cell]:
    head = text[:4096].partition("\n")[0]
    delimiter = "\t" if "\t" in head and "," not in head else ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    try:
        names = [name.strip()[:MAX_NAME] for name in next(reader, [])]
        for row, fields in enumerate(reader):
            for name, field in zip(names, fields, strict=False):
                value = _field(field)
                if value is not None:
                    yield row, name, value
    except csv.Error as error:
        raise InputError(f"{source} is no readable CSV: {error}") from None


def _field(text: str) -> float | None:
    text = text.strip()
    if not text:
        return None
    measured = _WITH_UNIT.fullmatch(text)
    try:
        return float(text if measured is None else measured.group(1))
    except ValueError:
        return _stamp(text)


def _stamp(text: str) -> float | None:
    if len(text) > 40 or not text[0].isdigit():
        return None
    try:
        return datetime.fromisoformat(text.replace("/", "-").replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _lines(text: str, source: str) -> Iterator[object]:
    """The objects of JSON lines; a torn last line is left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    for place, line in enumerate(lines):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            if place == len(lines) - 1 and place:
                return
            raise InputError(f"{source} is no JSON lines: line {place + 1} cannot be read") from None


def _rows(rows: Iterable[object]) -> Iterator[Cell]:
    for row, entry in enumerate(rows):
        if isinstance(entry, dict):
            for name, value in _flat(cast("dict[str, object]", entry)):
                yield row, name, value


def _flat(entry: Mapping[str, object], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, float]]:
    for key, value in entry.items():
        name = f"{prefix}{key}"[:MAX_NAME]
        if isinstance(value, dict):
            if depth < MAX_DEPTH:
                yield from _flat(cast("dict[str, object]", value), f"{name}/", depth + 1)
        elif (told := _told(value)) is not None:
            yield name, told


def _told(value: object) -> float | None:
    return _stamp(value) if isinstance(value, str) and value else number(value)


def _trainer_state(state: dict[str, Any]) -> Cells:
    """The log; what is known of the whole training only is spread evenly over its steps, and said."""
    log = [cast("dict[str, object]", entry) for entry in state["log_history"] if isinstance(entry, dict)]
    last = number(state.get("global_step"))
    totals = {
        name: value / last
        for key, name in _TOTALS.items()
        if last and (value := _total(log, key)) is not None and math.isfinite(value)
    }
    rows = [{**_without_totals(entry), **_spread(entry, totals)} for entry in log]
    planned = number(state.get("max_steps"))
    notes = tuple(f"{name} is the total of the training, spread evenly over its steps" for name in totals)
    return Cells(_rows(rows), planned if planned and planned > 0 else None, notes)


def _total(log: Iterable[Mapping[str, object]], key: str) -> float | None:
    return next((value for entry in log if (value := number(entry.get(key)))), None)


def _without_totals(entry: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in entry.items() if name not in _TOTALS}


def _spread(entry: Mapping[str, object], per_step: Mapping[str, float]) -> dict[str, object]:
    step = number(entry.get("step"))
    return {} if step is None else {name: each * step for name, each in per_step.items()}
