"""How busy the parts of an NVIDIA device were, from its GPM counters (NVML, Hopper and later).

NVML's utilisation only says whether any kernel ran. These counters, which the device keeps anyway, say how many of its
multiprocessors, tensor cores and how much of its memory bandwidth that kernel used. A reading is the mean since the
reading before it, so the first of a device tells nothing. Streaming mode is left as it is.
"""

from __future__ import annotations

from typing import Any

from .source import Reading

#: Fields of a reading by NVML's metric number (nvml.h); all are percentages there, shares here.
METRICS = {2: "sm_active", 3: "sm_occupancy", 5: "tensor_active", 10: "dram_active"}


class GpmReader:
    """Reads through a module with pynvml's interface; a device that cannot be read is not asked again."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._samples: dict[int, tuple[Any, Any]] = {}
        self._refused: set[int] = set()

    def read(self, index: int, handle: Any) -> Reading:
        """The shares since this device was read before; empty where the device or driver has no such counters."""
        if index in self._refused:
            return {}
        try:
            return self._read(index, handle)
        except (self._nvml.NVMLError, AttributeError):  # before version 12 pynvml has no such functions
            self._refused.add(index)
            return {}

    def close(self) -> None:
        """Free the samples."""
        for samples in self._samples.values():
            for sample in samples:
                try:
                    self._nvml.nvmlGpmSampleFree(sample)
                except self._nvml.NVMLError:
                    continue
        self._samples.clear()

    def _read(self, index: int, handle: Any) -> Reading:
        nvml = self._nvml
        known = self._samples.get(index)
        if known is None:
            if not nvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice:
                self._refused.add(index)
                return {}
            known = (nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc())
            self._samples[index] = known
            nvml.nvmlGpmSampleGet(handle, known[0])
            return {}
        before, now = known
        nvml.nvmlGpmSampleGet(handle, now)
        self._samples[index] = (now, before)
        return self._shares(before, now)

    def _shares(self, before: Any, now: Any) -> Reading:
        nvml = self._nvml
        asked = nvml.c_nvmlGpmMetricsGet_t()
        asked.version = nvml.NVML_GPM_METRICS_GET_VERSION
        asked.numMetrics = len(METRICS)
        asked.sample1, asked.sample2 = before, now
        for place, metric in enumerate(METRICS):
            asked.metrics[place].metricId = metric
        answer = nvml.nvmlGpmMetricsGet(asked)
        told = ((name, answer.metrics[place]) for place, name in enumerate(METRICS.values()))
        return {
            name: min(metric.value / 100, 1.0)
            for name, metric in told
            if not metric.nvmlReturn and metric.value >= 0
        }
