"""Telemetry read back, and what the throttling rule makes of it, from replayed devices and hosts."""

import json
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.diagnosis.throttling import find
from trainrx.profiler.errors import InputError
from trainrx.profiler.observation import Observation
from trainrx.profiler.report import Finding, StepTime
from trainrx.profiler.telemetry import TELEMETRY_FILE, ReplayedSource
from trainrx.profiler.telemetry.sampling import TelemetryWriter
from trainrx.profiler.timeline.telemetry import STRETCHES, read_telemetry
from trainrx.profiler.vocabulary import Stage

S = 1_000_000_000


def device(clock: int, *reasons: str, busy: float = 0.95, **more: Any) -> dict[str, Any]:
    return {
        "index": 0, "name": "GPU", "is_matched": True, "busy": busy, "clock_mhz": clock, "clock_max_mhz": 1980,
        "reasons": list(reasons), "is_idle": False, **more,
    }  # fmt: skip


def replay(folder: Path, monkeypatch: pytest.MonkeyPatch, **readings: list[Any]) -> None:
    """Write the telemetry of a run from recorded readings, half a second apart."""
    sources = [ReplayedSource(name, values) for name, values in readings.items()]
    writer = TelemetryWriter(folder / TELEMETRY_FILE, 1, sources)
    clock = iter(range(0, 10**6 * S, S // 2))
    monkeypatch.setattr("trainrx.profiler.telemetry.sampling.time.perf_counter_ns", lambda: next(clock))
    for _ in range(max(len(values) for values in readings.values())):
        writer.sample()


def diagnosed(folder: Path, *, cores: int = 4) -> Finding | None:
    telemetry = read_telemetry(folder, timed_ns=None, cores=cores)
    step = StepTime(p50_s=0.1, p95_s=0.1, mean_s=0.1, n=40)
    return find(Observation(setup={}, step_time=step, stages={Stage.FORWARD: 0.1}, telemetry=telemetry))


def test_a_hot_device_is_throttled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a device that ran at 1900 MHz until it was hot, and at 1140 MHz for the other half
    cold, hot = device(1900), device(1140, "sw-thermal", "hw-thermal", temperature_c=91)
    replay(tmp_path, monkeypatch, devices=[[cold]] * 10 + [[hot]] * 10)
    # WHEN it is diagnosed THEN half of the time is 40 % slower: a fifth of the step
    finding = diagnosed(tmp_path)
    assert finding is not None and (finding.kind, finding.cause, finding.severity) == (
        "throttling",
        "thermal",
        "high",
    )
    assert finding.share == pytest.approx(0.2) and finding.ms_per_step == pytest.approx(20)
    assert "held down 50 % of its busy time, to 1140 MHz from 1900 MHz" in finding.summary


def test_a_power_cap_is_told_apart_from_heat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replay(tmp_path, monkeypatch, devices=[[device(1600, "sw-power-cap", power_w=700.0)]] * 10)
    finding = diagnosed(tmp_path)
    # the device was never free, so its highest clock is what there is to compare with
    assert finding is not None and finding.cause == "power-limit" and finding.severity == "moderate"
    assert finding.share == pytest.approx(1 - 1600 / 1980)


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param([device(1980)] * 10, id="free"),
        pytest.param([device(1950, "sw-power-cap")] * 10, id="at its limit but hardly slower"),
        pytest.param([device(300, "sw-thermal", busy=0.01)] * 10, id="idle"),
        pytest.param(
            [{"index": 0, "busy": 1.0, "clock_mhz": 900, "clock_max_mhz": 1980}] * 9, id="tells no reason"
        ),
        pytest.param([{"index": "zero"}, 7, None], id="damaged"),
    ],
)
def test_no_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readings: list[Any]) -> None:
    replay(tmp_path, monkeypatch, devices=[[one] for one in readings])
    assert diagnosed(tmp_path) is None


def test_a_cpu_quota_is_throttling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a container that is stopped in 9 of 10 periods, for 1.2 seconds of its 4 cores in each second
    readings = [
        {"quota_periods": 10 * n, "quota_throttled_periods": 9 * n, "quota_throttled_s": 0.6 * n}
        for n in range(20)
    ]
    replay(tmp_path, monkeypatch, host=readings)
    finding = diagnosed(tmp_path)
    assert finding is not None and finding.cause == "cpu-quota" and finding.share == pytest.approx(0.3)


def test_a_host_that_tells_no_quota_and_a_run_without_telemetry_raise_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_telemetry(tmp_path, timed_ns=None, cores=4) is None and diagnosed(tmp_path) is None
    replay(tmp_path, monkeypatch, host=[{"cores_busy": 1.5, "rss_bytes": 100}] * 4)
    assert diagnosed(tmp_path) is None
    telemetry = read_telemetry(tmp_path, timed_ns=None, cores=4)
    assert telemetry is not None and telemetry.host is not None
    assert telemetry.host.cores_busy == 1.5 and telemetry.host.quota_lost_share is None
    assert telemetry.devices == [] and telemetry.devices_reason


def test_the_summary_is_of_the_timed_steps_and_rates_come_from_counters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a quiet start of 5 s, then 5 s in which the run computes on two cores and writes 10 MB/s
    quiet = [{"cores_busy": 0.1, "tree_cpu_s": 0.0, "written_bytes": 0}] * 10
    at_work = [
        {"cores_busy": 2.0, "tree_cpu_s": n * 1.0, "written_bytes": n * 5_000_000, "rss_bytes": n}
        for n in range(10)
    ]
    replay(tmp_path, monkeypatch, host=quiet + at_work)
    telemetry = read_telemetry(tmp_path, timed_ns=(5 * S, 10 * S), cores=2)
    assert telemetry is not None and telemetry.host is not None
    assert telemetry.host.cores_busy == pytest.approx(
        2.0
    ) and telemetry.host.tree_cores_busy == pytest.approx(2.0)
    assert telemetry.host.written_bytes_s == pytest.approx(10e6) and telemetry.host.rss_bytes == 9
    # AND the series are of the whole run
    (busy,) = [series for series in telemetry.series if series.name == "cores_busy"]
    assert busy.values[0] == pytest.approx(0.1) and busy.values[-1] == pytest.approx(2.0)


def test_series_are_thinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replay(tmp_path, monkeypatch, host=[{"cores_busy": float(n)} for n in range(1000)])
    telemetry = read_telemetry(tmp_path, timed_ns=None, cores=None)
    assert telemetry is not None and len(telemetry.series[0].values) == STRETCHES
    assert telemetry.series_s == pytest.approx(999 * 0.5 / STRETCHES)


@pytest.mark.parametrize(
    "line",
    [
        "", "[" * 100_000, "null", '{"t": "now", "cpu_s": 1}', '{"t": -5, "cpu_s": 1}', '{"t": 9, "absent": 5}',
        '{"t": 7, "cpu_s": [1], "host": 3}',
        '{"t": 8, "cpu_s": 1, "host": {"rss_bytes": "much", "load": NaN}, "devices": {"index": 0}}',
        '{"t": 9, "cpu_s": 1, "devices": [{"index": 0, "reasons": 7, "busy": 1e999, "clock_mhz": []}]}',
    ],
)  # fmt: skip
def test_damaged_lines_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    replay(tmp_path, monkeypatch, host=[{"cores_busy": 1.0}] * 4)
    with (tmp_path / TELEMETRY_FILE).open("a") as file:
        file.write(line + "\n" + json.dumps({"t": 99})[:5])
    telemetry = read_telemetry(tmp_path, timed_ns=None, cores=4)
    assert (
        telemetry is not None
        and telemetry.host is not None
        and telemetry.host.cores_busy == pytest.approx(1.0)
    )


def test_samples_out_of_order_are_put_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a line that was stamped before the first one
    replay(tmp_path, monkeypatch, host=[{"cores_busy": 1.0}] * 400)
    path = tmp_path / TELEMETRY_FILE
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([*others, first]) + "\n")
    # WHEN it is read THEN the series begin with it
    telemetry = read_telemetry(tmp_path, timed_ns=None, cores=4)
    assert telemetry is not None and telemetry.interval_s == pytest.approx(0.5)
    assert telemetry.series_s == pytest.approx(399 * 0.5 / STRETCHES)


def test_telemetry_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / TELEMETRY_FILE).write_text("{}\n")

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=f"{TELEMETRY_FILE} cannot be read: Permission denied"):
        read_telemetry(tmp_path, timed_ns=None, cores=2)
