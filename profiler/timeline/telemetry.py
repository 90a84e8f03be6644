"""Reads a run's telemetry: a summary over the timed steps, and thinned series over the whole run.

A damaged line or a value of another type counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, cast

import numpy as np

from ..errors import InputError
from ..facts import Facts, number, text, texts, whole
from ..report import DeviceTelemetry, HostTelemetry, Series, Telemetry
from ..telemetry import TELEMETRY_FILE

MAX_BYTES = 256 * 1024 * 1024
STRETCHES = 120
MIN_SAMPLES = 3
#: A device with a kernel running for less of the time is not held down by its clock.
BUSY = 0.5
_HOST_SERIES = (("cores_busy", "cores"), ("rss_bytes", "bytes"), ("shared_bytes", "bytes"))
_DEVICE_SERIES = (
    ("busy", "share"), ("memory_bytes", "bytes"), ("clock_mhz", "MHz"), ("power_w", "W"), ("temperature_c", "°C"),
)  # fmt: skip

Row = tuple[int, Facts]


def read_telemetry(run_dir: Path, *, timed_ns: tuple[int, int] | None, cores: int | None) -> Telemetry | None:
    """The telemetry of a run; None where nothing was sampled.

    Args:
        run_dir: the run's folder.
        timed_ns: from when to when the timed steps lasted; the whole run if None or too short for a few samples.
        cores: the cores that the training process may use.

    Raises:
        InputError: the file is there and cannot be read.
    """
    lines = list(_lines(run_dir / TELEMETRY_FILE))
    samples = sorted((line for line in lines if "cpu_s" in line[1]), key=lambda line: line[0])
    if not samples:
        return None
    absent = next((_mapping(line.get("absent")) for _, line in lines if "absent" in line), {})
    chosen = _within(samples, timed_ns)
    host = _rows(chosen, "host")
    devices = _devices(chosen)
    series_s, series = _series(samples)
    return Telemetry(
        samples=len(samples),
        interval_s=median(np.diff([t for t, _ in samples]).tolist()) / 1e9 if len(samples) > 1 else 0.0,
        cost_share=_cost_share(samples),
        host=_host(host, cores) if host else None,
        host_reason=None if host else text(absent, "host") or "the host was not sampled",
        devices=[_device(index, rows) for index, rows in sorted(devices.items())],
        devices_reason=None
        if devices
        else text(absent, "devices") or "no process of this run was seen on a device",
        series_s=series_s,
        series=series,
    )


def _lines(path: Path) -> Iterable[Row]:
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    for line in content.splitlines():
        try:
            found = _mapping(json.loads(line))
        except (ValueError, RecursionError):
            continue
        t = whole(found, "t")
        if t is not None and t >= 0:
            yield t, found


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _within(samples: Sequence[Row], bounds: tuple[int, int] | None) -> Sequence[Row]:
    if bounds is None:
        return samples
    inside = [row for row in samples if bounds[0] <= row[0] <= bounds[1]]
    return inside if len(inside) >= MIN_SAMPLES else samples


def _rows(samples: Iterable[Row], name: str) -> list[Row]:
    return [(t, reading) for t, line in samples if (reading := _mapping(line.get(name)))]


def _devices(samples: Iterable[Row]) -> dict[int, list[Row]]:
    """The readings of each device, by its index."""
    found: dict[int, list[Row]] = {}
    for t, line in samples:
        readings = line.get("devices")
        for reading in cast("list[object]", readings)[:256] if isinstance(readings, list) else []:
            device = _mapping(reading)
            index = whole(device, "index")
            if index is not None:
                found.setdefault(index, []).append((t, device))
    return found


def _cost_share(samples: Sequence[Row]) -> float | None:
    """CPU seconds of sampling per second; the first sample, which finds everything for the first time, is left out."""
    used = _values(samples, "cpu_s")
    seconds = (samples[-1][0] - samples[0][0]) / 1e9
    return None if len(used) < 2 or seconds <= 0 else max(used[-1] - used[0], 0.0) / seconds


def _host(rows: Sequence[Row], cores: int | None) -> HostTelemetry:
    return HostTelemetry(
        cores=cores,
        cores_busy=_of(fmean, rows, "cores_busy"),
        tree_cores_busy=_rate(rows, "tree_cpu_s"),
        load=_of(fmean, rows, "load"),
        rss_bytes=_whole(_of(max, rows, "rss_bytes")),
        shared_bytes=_whole(_of(max, rows, "shared_bytes")),
        swap_bytes=_whole(_of(max, rows, "swap_bytes")),
        available_bytes=_whole(_of(min, rows, "available_bytes")),
        read_bytes_s=_rate(rows, "read_bytes"),
        written_bytes_s=_rate(rows, "written_bytes"),
        clock_share=_clock_share(rows),
        thermal_events=_whole(_growth(rows, "thermal_events")),
        quota_throttled_share=_ratio(
            _growth(rows, "quota_throttled_periods"), _growth(rows, "quota_periods")
        ),
        quota_lost_share=_ratio(_rate(rows, "quota_throttled_s"), cores),
    )


def _device(index: int, rows: Sequence[Row]) -> DeviceTelemetry:
    busy = [(t, row) for t, row in rows if (number(row, "busy") or 0) >= BUSY and not row.get("is_idle")]
    held = [(t, row) for t, row in busy if texts(row, "reasons")]
    free = [(t, row) for t, row in busy if "reasons" in row and not texts(row, "reasons")]
    told = [row for _, row in busy if "reasons" in row]
    reasons = sorted({reason for row in told for reason in texts(row, "reasons")})
    return DeviceTelemetry(
        index=index,
        name=next((name for _, row in rows if (name := text(row, "name"))), None),
        is_matched=any(row.get("is_matched") is True for _, row in rows),
        samples=len(rows),
        busy=_of(fmean, rows, "busy"),
        sm_active=_of(fmean, rows, "sm_active"),
        sm_occupancy=_of(fmean, rows, "sm_occupancy"),
        tensor_active=_of(fmean, rows, "tensor_active"),
        dram_active=_of(fmean, rows, "dram_active"),
        memory_peak_bytes=_whole(_of(max, rows, "memory_bytes")),
        memory_total_bytes=_whole(_of(max, rows, "memory_total_bytes")),
        clock_mhz=_of(median, busy, "clock_mhz"),
        clock_max_mhz=_of(max, rows, "clock_max_mhz"),
        clock_free_mhz=_of(median, free, "clock_mhz"),
        clock_held_mhz=_of(median, held, "clock_mhz"),
        held_share=_ratio(len(held), len(told)),
        reason_shares={
            reason: sum(reason in texts(row, "reasons") for row in told) / len(told) for reason in reasons
        },
        power_w=_of(fmean, rows, "power_w"),
        power_limit_w=_of(max, rows, "power_limit_w"),
        energy_j=_growth(rows, "energy_j"),
        temperature_c=_of(max, rows, "temperature_c"),
        pcie_received_bytes_s=_of(fmean, rows, "pcie_received_bytes_s"),
        pcie_sent_bytes_s=_of(fmean, rows, "pcie_sent_bytes_s"),
    )


def _values(rows: Iterable[Row], key: str) -> list[float]:
    return [value for _, row in rows if (value := number(row, key)) is not None]


def _of(how: Callable[[list[float]], float], rows: Sequence[Row], key: str) -> float | None:
    values = _values(rows, key)
    return how(values) if values else None


def _growth(rows: Sequence[Row], key: str) -> float | None:
    """How far a counter that only grows has come; None where it was read less than twice, or went back."""
    values = _values(rows, key)
    return None if len(values) < 2 or values[-1] < values[0] else values[-1] - values[0]


def _rate(rows: Sequence[Row], key: str) -> float | None:
    """The growth of a counter per second."""
    grown = _growth(rows, key)
    told = [t for t, row in rows if number(row, key) is not None]
    return None if grown is None or told[-1] <= told[0] else grown / ((told[-1] - told[0]) / 1e9)


def _ratio(part: float | None, whole_: float | None) -> float | None:
    return None if part is None or not whole_ else min(part / whole_, 1.0)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _clock_share(rows: Sequence[Row]) -> float | None:
    shares = [
        clock / most
        for _, row in rows
        if (clock := number(row, "clock_mhz")) is not None and (most := number(row, "clock_max_mhz"))
    ]
    return fmean(shares) if shares else None


def _series(samples: Sequence[Row]) -> tuple[float, list[Series]]:
    """The length of a stretch in seconds, and each quantity that was sampled, thinned to at most `STRETCHES` means."""
    start, end = samples[0][0], samples[-1][0]
    stretches = min(STRETCHES, len(samples))
    length_s = max((end - start) / 1e9 / stretches, 1e-9)
    found = [
        _thinned(name, unit, _rows(samples, "host"), start, length_s, stretches)
        for name, unit in _HOST_SERIES
    ]
    for index, rows in sorted(_devices(samples).items()):
        found += [
            _thinned(name, unit, rows, start, length_s, stretches, prefix=f"device {index} ")
            for name, unit in _DEVICE_SERIES
        ]
    return length_s, [series for series in found if any(value is not None for value in series.values)]


def _thinned(
    name: str,
    unit: str,
    rows: Sequence[Row],
    start_ns: int,
    length_s: float,
    stretches: int,
    *,
    prefix: str = "",
) -> Series:
    sums: Mapping[int, list[float]] = {place: [] for place in range(stretches)}
    for t, row in rows:
        value = number(row, name)
        if value is not None:
            sums[min(int((t - start_ns) / 1e9 / length_s), stretches - 1)].append(value)
    return Series(
        name=prefix + name, unit=unit, values=[fmean(values) if values else None for values in sums.values()]
    )
