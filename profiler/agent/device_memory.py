"""Reads PyTorch's own book-keeping of a GPU's memory: numbers that it keeps anyway, so nothing waits for the device.

Peaks are never reset, for the script may read them itself.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder


class DeviceMemory:
    """Reads the allocator of the training thread's device, once that has started CUDA."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._device: int | None = None
        self._given_up = False

    def starts(self, cuda: Any) -> None:
        """On the training thread, which computes on the GPU by now: note the device and how much memory it has."""
        try:
            device = int(cuda.current_device())
            if self._recorder.folder is not None:
                self._recorder.folder.fact("device", **describe(cuda.get_device_properties(device), device))
            self._device = device
        except Exception as error:
            self._give_up(error)

    def used(self) -> dict[str, int]:
        """Bytes and counts of the allocator, on any thread; empty where there is none."""
        if self._device is None or self._given_up:
            return {}
        try:
            return reading(sys.modules["torch"].cuda.memory_stats_as_nested_dict(self._device))
        except Exception as error:
            self._give_up(error)
            return {}

    def _give_up(self, error: BaseException) -> None:
        self._given_up = True
        self._recorder.note(f"the GPU's memory was not read: {error!r}")


def describe(properties: Any, index: int) -> dict[str, Any]:
    """What torch tells of a device; of AMD's no compute capability, for theirs is numbered otherwise."""
    capability = f"{properties.major}.{properties.minor}"
    return {
        "index": index,
        "name": str(properties.name),
        "capability": None if sys.modules["torch"].version.hip else capability,
        "memory_bytes": int(properties.total_memory),
    }


def reading(stats: Any) -> dict[str, int]:
    """What is kept of the allocator's statistics; empty where they are."""
    if not stats:
        return {}
    allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
    return {
        "device_allocated_bytes": int(allocated["current"]),
        "device_allocated_peak_bytes": int(allocated["peak"]),
        "device_reserved_bytes": int(reserved["current"]),
        "device_reserved_peak_bytes": int(reserved["peak"]),
        "device_inactive_split_bytes": int(stats["inactive_split_bytes"]["all"]["current"]),
        "device_retries": int(stats["num_alloc_retries"]),
        "device_out_of_memory": int(stats["num_ooms"]),
    }
