"""What the machine did during the run: host and devices as tables, and series over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...profiler.report import DeviceTelemetry, HostTelemetry, Report, Series, Telemetry
from . import format as text

#: More series than this are cut: no reader compares so many.
MAX_SERIES = 12
_MIB = 1024**2
_GIB = 1024**3


@dataclass(frozen=True)
class SeriesView:
    """One quantity over time; None where a stretch has no sample."""

    name: str
    unit: str
    time_s: tuple[float, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class TelemetryView:
    """All that is shown of the machine; ``devices_reason`` says why there is no device."""

    caption: str
    host: tuple[tuple[str, str], ...]
    host_reason: str
    devices: tuple[dict[str, str], ...]
    devices_reason: str
    series: tuple[SeriesView, ...]


def telemetry_view(report: Report) -> TelemetryView | None:
    """The telemetry of a report; None where none was taken."""
    found = report.telemetry
    if found is None:
        return None
    return TelemetryView(
        caption=_caption(found),
        host=tuple(_host(found.host)) if found.host is not None else (),
        host_reason="" if found.host is not None else text.unavailable(found.host_reason),
        devices=tuple(_device(device) for device in found.devices),
        devices_reason="" if found.devices else text.unavailable(found.devices_reason),
        series=tuple(_series(series, found.series_s) for series in found.series[:MAX_SERIES]),
    )


def _caption(found: Telemetry) -> str:
    cost = "" if found.cost_share is None else f" Sampling took {text.percent(found.cost_share)} of one core."
    return (
        f"{text.count(found.samples, 'sample')}, one every {text.duration(found.interval_s)}. Tables are about the "
        f"timed steps, series about the whole run.{cost}"
    )


def _host(host: HostTelemetry) -> Iterator[tuple[str, str]]:
    yield "cores for this run", _number(host.cores)
    yield "cores busy, whole machine", _number(host.cores_busy)
    yield "cores busy, this run", _number(host.tree_cores_busy)
    yield "load", _number(host.load)
    yield "memory of the run", _size(host.rss_bytes)
    yield "shared memory", _size(host.shared_bytes)
    yield "least memory free", _size(host.available_bytes)
    yield "swapped", _size(host.swap_bytes)
    yield "read from disk", _rate(host.read_bytes_s)
    yield "written to disk", _rate(host.written_bytes_s)
    yield "clock, share of maximum", _share(host.clock_share)
    yield "thermal throttling events", "n/a" if host.thermal_events is None else f"{host.thermal_events:,}×"
    yield "CPU quota used up", _share(host.quota_throttled_share)


def _device(device: DeviceTelemetry) -> dict[str, str]:
    return {
        "device": f"{device.index} {device.name or ''}".rstrip(),
        "of this run": "yes" if device.is_matched else "not seen on it",
        "a kernel running": _share(device.busy),
        "multiprocessors busy": _share(device.sm_active),
        "tensor cores busy": _share(device.tensor_active),
        "memory bandwidth used": _share(device.dram_active),
        "memory": _of(device.memory_peak_bytes, device.memory_total_bytes),
        "clock": _with(device.clock_mhz, "MHz"),
        "clock throttled": _share(device.held_share),
        "throttle reasons": ", ".join(
            f"{name} {text.percent(one)}" for name, one in device.reason_shares.items()
        )
        or "n/a",
        "power": _with(device.power_w, "W"),
        "temperature": _with(device.temperature_c, "°C"),
        "energy": "n/a" if device.energy_j is None else f"{device.energy_j:,.0f} J",
    }


def _series(series: Series, stretch_s: float) -> SeriesView:
    scale, unit = _scale(series)
    return SeriesView(
        name=series.name.removesuffix("_bytes").replace("_", " "),
        unit=unit,
        time_s=tuple((number + 0.5) * stretch_s for number in range(len(series.values))),
        values=tuple(None if value is None else value / scale for value in series.values),
    )


def _scale(series: Series) -> tuple[float, str]:
    """What to divide by, and the unit: amounts of bytes in MiB or GiB, by their largest."""
    if not series.unit.startswith("bytes"):
        return 1.0, series.unit
    largest = max((value for value in series.values if value is not None), default=0.0)
    scale, unit = (_GIB, "GiB") if largest >= _GIB else (_MIB, "MiB")
    return scale, unit + series.unit.removeprefix("bytes")


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:,.3g}"


def _size(count_bytes: int | None) -> str:
    return "n/a" if count_bytes is None else text.size(count_bytes)


def _rate(bytes_s: float | None) -> str:
    return "n/a" if bytes_s is None else f"{text.size(bytes_s)}/s"


def _share(share: float | None) -> str:
    return "n/a" if share is None else text.percent(share)


def _with(value: float | None, unit: str) -> str:
    return "n/a" if value is None else f"{value:,.0f} {unit}"


def _of(used: int | None, total: int | None) -> str:
    return _size(used) if total is None else f"{_size(used)} of {text.size(total)}"
