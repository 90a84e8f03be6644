"""Sampling beside a run: what is written, how it is bounded, and that its faults stay its own."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.telemetry import TELEMETRY_FILE, ReplayedSource, telemetry_of
from trainrx.profiler.telemetry.host import HostSource
from trainrx.profiler.telemetry.nvml import NvmlSource
from trainrx.profiler.telemetry.sampling import BYTES_PER_RATE, CPU_BUDGET, INTERVAL_S, TelemetryWriter


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_samples_of_every_source_are_appended(tmp_path: Path) -> None:
    # GIVEN a host that is there and devices that are not
    host = ReplayedSource("host", [{"cores_busy": 1.0}, {"cores_busy": 2.0}])
    devices = ReplayedSource("devices", [], absence="no driver")
    writer = TelemetryWriter(tmp_path / TELEMETRY_FILE, 1, [host, devices])
    # WHEN samples are taken
    writer.begin()
    for _ in range(3):
        writer.sample()
    # THEN the file says what is absent, and each sample what it saw and cost
    first, *samples = lines(tmp_path / TELEMETRY_FILE)
    assert first["absent"] == {"devices": "no driver"}
    assert [sample["host"]["cores_busy"] for sample in samples] == [1.0, 2.0, 2.0]
    assert all("devices" not in sample and sample["cpu_s"] >= 0 for sample in samples)
    assert [sample["t"] for sample in samples] == sorted(sample["t"] for sample in samples)


def test_a_source_that_shows_nothing_is_left_out(tmp_path: Path) -> None:
    writer = TelemetryWriter(tmp_path / TELEMETRY_FILE, 1, [ReplayedSource("devices", [])])
    writer.sample()
    assert set(lines(tmp_path / TELEMETRY_FILE)[0]) == {"t", "cpu_s"}


def test_it_slows_down_with_what_it_has_written_and_what_it_costs(tmp_path: Path) -> None:
    writer = TelemetryWriter(tmp_path / TELEMETRY_FILE, 1, [])
    assert writer.interval_s == INTERVAL_S
    writer._bytes = 3 * BYTES_PER_RATE
    assert writer.interval_s == 8 * INTERVAL_S
    writer._bytes, writer._count, writer._cpu_s = 0, 100, 1.0
    assert writer.interval_s == pytest.approx(0.01 / CPU_BUDGET)


def test_a_week_of_eight_devices_is_bounded(tmp_path: Path) -> None:
    # GIVEN samples of 2 kB WHEN a week passes THEN less than 64 MB is written
    writer = TelemetryWriter(tmp_path / TELEMETRY_FILE, 1, [])
    seconds = 0.0
    while seconds < 7 * 86400:
        writer._bytes += 2000
        seconds += writer.interval_s
    assert writer._bytes < 64 * 1024 * 1024


def test_it_runs_beside_a_block_and_closes_its_sources(tmp_path: Path) -> None:
    source = ReplayedSource("host", [{"load": 1.0}])
    with telemetry_of(1, tmp_path, [source]):
        pass
    assert source.is_closed and len(lines(tmp_path / TELEMETRY_FILE)) >= 1


def test_a_folder_that_cannot_be_written_ends_the_telemetry_alone(tmp_path: Path) -> None:
    with telemetry_of(1, tmp_path / "gone", [ReplayedSource("host", [{}])]):
        pass
    assert not (tmp_path / "gone").exists()


def test_the_host_is_read(tmp_path: Path) -> None:
    # GIVEN a process that holds some memory
    code = "import sys; block = bytearray(30_000_000); print('ready', flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdin is not None
    process.stdout.readline()
    source = HostSource()
    # WHEN the host is read with and without it
    alive = source.read([process.pid, 2**40])
    process.stdin.close()
    process.wait()
    process.stdout.close()
    gone = source.read([process.pid])
    # THEN what was busy since the reading before is told from the second on
    assert "cores_busy" not in alive and gone["cores_busy"] >= 0
    # AND its memory is counted while it lives, and its CPU time stays
    assert alive["processes"] == 1 and alive["rss_bytes"] > 30_000_000 and alive["available_bytes"] > 0
    assert gone["processes"] == 0 and gone["rss_bytes"] == 0 and gone["tree_cpu_s"] >= alive["tree_cpu_s"]


class NvmlError(Exception):
    pass


def fake_nvml(*, users: list[list[int]], reasons: int = 0x04, missing: tuple[str, ...] = ()) -> Any:
    """A module with pynvml's interface: one device for each list of process ids."""

    def refuse(*_: Any) -> None:
        raise NvmlError("Not Supported")

    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: len(users),
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: [
            SimpleNamespace(pid=pid) for pid in users[handle]
        ],
        "nvmlDeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=97, memory=40),
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(used=10, total=80),
        "nvmlDeviceGetCurrentClocksEventReasons": lambda handle: reasons,
        "nvmlDeviceGetCurrentClocksThrottleReasons": lambda handle: reasons,
        "nvmlDeviceGetClockInfo": lambda handle, kind: {1: 1200, 2: 2600}[kind],
        "nvmlDeviceGetMaxClockInfo": lambda handle, kind: 1980,
        "nvmlDeviceGetPowerUsage": lambda handle: 690_000,
        "nvmlDeviceGetEnforcedPowerLimit": lambda handle: 700_000,
        "nvmlDeviceGetTotalEnergyConsumption": lambda handle: 5_000,
        "nvmlDeviceGetTemperature": lambda handle, kind: 71,
        "nvmlDeviceGetName": lambda handle: b"GPU",
        "nvmlDeviceGetPcieThroughput": lambda handle, kind: 2,
    }
    constants = {"NVML_CLOCK_SM": 1, "NVML_CLOCK_MEM": 2, "NVML_TEMPERATURE_GPU": 0, "NVML_PCIE_UTIL_RX_BYTES": 1,
                 "NVML_PCIE_UTIL_TX_BYTES": 0}  # fmt: skip
    return SimpleNamespace(
        NVMLError=NvmlError,
        **constants,
        **{name: refuse if name in missing else answers[name] for name in answers},
    )


def test_only_devices_of_the_run_are_read() -> None:
    source = NvmlSource(fake_nvml(users=[[5], [7, 8], []]))
    (device,) = source.read([8]) or []
    assert (device["index"], device["is_matched"], device["name"], device["busy"]) == (1, True, "GPU", 0.97)
    assert (device["power_w"], device["power_limit_w"], device["energy_j"]) == (690.0, 700.0, 5.0)
    assert (device["clock_mhz"], device["clock_max_mhz"], device["memory_clock_mhz"]) == (1200, 1980, 2600)
    assert device["reasons"] == ["sw-power-cap"] and device["is_idle"] is False
    assert device["pcie_received_bytes_s"] == 2048


def test_in_a_container_all_devices_in_use_are_read_and_told_so() -> None:
    found = NvmlSource(fake_nvml(users=[[5], [], [9]])).read([70_000]) or []
    assert [(device["index"], device["is_matched"]) for device in found] == [(0, False), (2, False)]


def test_no_device_in_use_is_no_reading() -> None:
    assert NvmlSource(fake_nvml(users=[[], []])).read([1]) is None


def test_what_a_device_does_not_tell_is_left_out() -> None:
    missing = (
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons",
    )
    (device,) = NvmlSource(fake_nvml(users=[[5]], missing=missing)).read([5]) or []
    assert not {"power_w", "busy", "reasons", "is_idle"} & set(device) and device["temperature_c"] == 71


def test_a_driver_that_knows_the_older_question_is_asked_that() -> None:
    missing = ("nvmlDeviceGetCurrentClocksEventReasons",)
    (device,) = NvmlSource(fake_nvml(users=[[5]], missing=missing)).read([5]) or []
    assert device["reasons"] == ["sw-power-cap"] and device["is_idle"] is False


def test_no_driver_is_a_reason() -> None:
    source = NvmlSource(fake_nvml(users=[], missing=("nvmlInit",)))
    assert source.absence == "NVML does not answer: Not Supported" and source.read([1]) is None
    source.close()


class Gpm:
    """Adds GPM counters to a fake NVML: a sample is a list that takes the number of its reading."""

    NVML_GPM_METRICS_GET_VERSION = 1

    def __init__(self, *, supported: bool = True, fails_at: int = 0) -> None:
        self.supported, self.fails_at = supported, fails_at
        self.taken = 0
        self.freed = 0

    def nvmlGpmQueryDeviceSupport(self, handle: int) -> Any:
        return SimpleNamespace(isSupportedDevice=int(self.supported))

    def nvmlGpmSampleAlloc(self) -> list[int]:
        return [0]

    def nvmlGpmSampleFree(self, sample: list[int]) -> None:
        self.freed += 1

    def nvmlGpmSampleGet(self, handle: int, sample: list[int]) -> None:
        self.taken += 1
        if self.taken == self.fails_at:
            raise NvmlError("Unknown Error")
        sample[0] = self.taken

    def c_nvmlGpmMetricsGet_t(self) -> Any:
        return SimpleNamespace(metrics=[SimpleNamespace(value=0.0, nvmlReturn=0) for _ in range(8)])

    def nvmlGpmMetricsGet(self, asked: Any) -> Any:
        assert asked.sample2[0] == asked.sample1[0] + 1
        for metric in asked.metrics[: asked.numMetrics]:
            metric.value, metric.nvmlReturn = {2: (80.0, 0), 3: (40.0, 0), 5: (55.0, 0), 10: (0.0, 3)}[
                metric.metricId
            ]
        return asked


def with_gpm(gpm: Gpm) -> Any:
    nvml = fake_nvml(users=[[5]])
    for name in dir(gpm):
        if name.startswith(("nvml", "c_nvml", "NVML")):
            setattr(nvml, name, getattr(gpm, name))
    return nvml


def test_gpm_counters_are_read_between_two_readings() -> None:
    gpm = Gpm()
    source = NvmlSource(with_gpm(gpm))
    first, second, third = (source.read([5]) for _ in range(3))
    assert first and "sm_active" not in first[0]
    for reading in (second, third):
        assert reading is not None
        assert (reading[0]["sm_active"], reading[0]["sm_occupancy"], reading[0]["tensor_active"]) == (
            0.8,
            0.4,
            0.55,
        )
        assert "dram_active" not in reading[0]  # the device refused that one
    source.close()
    assert gpm.freed == 2


@pytest.mark.parametrize("gpm", [Gpm(supported=False), Gpm(fails_at=2)])
def test_a_device_without_counters_is_read_without_them_and_not_asked_again(gpm: Gpm) -> None:
    source = NvmlSource(with_gpm(gpm))
    readings = [source.read([5]) for _ in range(4)]
    assert all(
        reading and "sm_active" not in reading[0] and reading[0]["busy"] == 0.97 for reading in readings
    )
    assert gpm.taken == gpm.fails_at
    source.close()
