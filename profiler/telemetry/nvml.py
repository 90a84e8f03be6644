"""NVIDIA devices while a run goes on, through NVML: only those that a process of the run computes on.

Reading changes nothing on a device. What a device does not tell is left out of its reading, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .gpm import GpmReader
from .source import Reading

#: PCIe throughput takes NVML 20 ms a direction, and devices change hands slowly: both once in so many readings.
SLOW_EVERY = 10
#: Bits of the clocks-event reasons (nvml.h) that slow a device down, by the name they have here.
REASONS = {
    0x04: "sw-power-cap",
    0x08: "hw-slowdown",
    0x20: "sw-thermal",
    0x40: "hw-thermal",
    0x80: "hw-power-brake",
}
IDLE_REASON = 0x01


class NvmlSource:
    """Reads devices through a module with pynvml's interface.

    A reading is a list with, per device: ``index``, ``is_matched`` (a process of the run was seen on it), ``busy``
    (share of the driver's last sampling period with a kernel running), ``memory_bytes``, ``memory_total_bytes``,
    ``clock_mhz``, ``clock_max_mhz``, ``memory_clock_mhz``, ``reasons`` (why the clock is held down), ``is_idle``,
    ``power_w``, ``power_limit_w``, ``energy_j`` (since the driver was loaded), ``temperature_c``; now and then also
    ``name``, ``pcie_received_bytes_s`` and ``pcie_sent_bytes_s``; where there are GPM counters, those of `gpm` too.
    """

    name = "devices"

    def __init__(self, library: Any = None) -> None:
        self.absence: str | None = None
        self._devices: list[tuple[int, bool, Any]] = []
        self._count = 0
        self._nvml = library if library is not None else _pynvml()
        self._gpm = GpmReader(self._nvml)
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            self.absence = f"NVML does not answer: {error}"

    def read(self, pids: Sequence[int]) -> list[Reading] | None:
        """What the run's devices show now; None where it uses none."""
        if self.absence is not None:
            return None
        is_slow = self._count % SLOW_EVERY == 0
        self._count += 1
        if is_slow or not self._devices:
            self._devices = self._devices_of(set(pids))
        found = [self._device(index, matched, handle, is_slow) for index, matched, handle in self._devices]
        return found or None

    def close(self) -> None:
        """Let go of NVML."""
        if self.absence is None:
            self._gpm.close()
            self._ask(self._nvml.nvmlShutdown)

    def _devices_of(self, pids: set[int]) -> list[tuple[int, bool, Any]]:
        """The devices with a process of the run; those with any process in a container, whose ids NVML knows not."""
        with_any: list[tuple[int, bool, Any]] = []
        matched: list[tuple[int, bool, Any]] = []
        for index in range(self._ask(self._nvml.nvmlDeviceGetCount) or 0):
            handle = self._ask(self._nvml.nvmlDeviceGetHandleByIndex, index)
            users = (
                [] if handle is None else self._ask(self._nvml.nvmlDeviceGetComputeRunningProcesses, handle)
            )
            if users:
                with_any.append((index, False, handle))
                if pids & {int(user.pid) for user in users}:
                    matched.append((index, True, handle))
        return matched or with_any

    def _device(self, index: int, is_matched: bool, handle: Any, is_slow: bool) -> Reading:
        nvml = self._nvml
        reading: Reading = {
            "index": index,
            "is_matched": is_matched,
            **self._clocks(handle),
            **self._energy(handle),
            **self._gpm.read(index, handle),
        }
        rates = self._ask(nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, handle)
        if rates is not None:
            reading["busy"] = rates.gpu / 100
        if memory is not None:
            reading |= {"memory_bytes": int(memory.used), "memory_total_bytes": int(memory.total)}
        if is_slow:
            reading |= self._slow(handle)
        return reading

    def _clocks(self, handle: Any) -> Reading:
        nvml = self._nvml
        bits = self._reason_bits(handle)
        reading = {
            "clock_mhz": self._ask(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            "clock_max_mhz": self._ask(nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_SM),
            "memory_clock_mhz": self._ask(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
            "reasons": None if bits is None else [name for bit, name in REASONS.items() if bits & bit],
            "is_idle": None if bits is None else bool(bits & IDLE_REASON),
        }
        return _known(reading)

    def _reason_bits(self, handle: Any) -> int | None:
        """By the question's name of today, or the one that an older driver or library knows."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            question = getattr(self._nvml, name, None)
            bits = None if question is None else self._ask(question, handle)
            if bits is not None:
                return int(bits)
        return None

    def _energy(self, handle: Any) -> Reading:
        nvml = self._nvml
        power = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        limit = self._ask(nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        energy = self._ask(nvml.nvmlDeviceGetTotalEnergyConsumption, handle)
        reading = {
            "power_w": None if power is None else power / 1e3,
            "power_limit_w": None if limit is None else limit / 1e3,
            "energy_j": None if energy is None else energy / 1e3,
            "temperature_c": self._ask(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
        }
        return _known(reading)

    def _slow(self, handle: Any) -> Reading:
        nvml = self._nvml
        name = self._ask(nvml.nvmlDeviceGetName, handle)
        received = self._ask(nvml.nvmlDeviceGetPcieThroughput, handle, nvml.NVML_PCIE_UTIL_RX_BYTES)
        sent = self._ask(nvml.nvmlDeviceGetPcieThroughput, handle, nvml.NVML_PCIE_UTIL_TX_BYTES)
        reading = {
            "name": name.decode("utf-8", "replace") if isinstance(name, bytes) else name,
            "pcie_received_bytes_s": None if received is None else received * 1024,
            "pcie_sent_bytes_s": None if sent is None else sent * 1024,
        }
        return _known(reading)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """An answer of NVML; None where the device or driver does not give it."""
        try:
            return function(*arguments)
        except self._nvml.NVMLError:
            return None


def _known(reading: dict[str, Any]) -> Reading:
    return {name: value for name, value in reading.items() if value is not None}


def _pynvml() -> Any:
    import pynvml

    return pynvml
