"""The launch queue: how far the host runs ahead of the device. An empty queue means that the device waits for
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ingest.column_values import median, quantile
from ..ingest.columns import DeviceKind, Trace
from .idle import launch_of_device_rows
from .intervals import Intervals


@dataclass(frozen=True)
class LaunchQueue:
    """Delays from launch call to kernel start in microseconds, and the mean number of launched, unfinished
    rows.
    """

    linked: int
    delay_median_us: float
    delay_p90_us: float
    mean_depth: float


def launch_queue(trace: Trace, window: Intervals) -> LaunchQueue | None:
    """The queue within a window; None where the trace links no kernel there to its launch."""
    launch_ns = launch_of_device_rows(trace)
    rows = trace.device_rows(DeviceKind.KERNEL, DeviceKind.MEMCPY, DeviceKind.MEMSET)
    if not len(window) or not len(rows):
        return None
    low, high = int(window.start[0]), int(window.end[-1])
    starts = trace.device.start_ns[rows]
    rows = rows[(launch_ns[rows] >= 0) & (starts >= low) & (starts < high)]
    if not len(rows):
        return None
    delay_us = np.maximum(trace.device.start_ns[rows] - launch_ns[rows], 0) / 1000
    in_flight = np.clip(trace.device.end_ns[rows], low, high) - np.clip(launch_ns[rows], low, high)
    return LaunchQueue(
        linked=len(rows),
        delay_median_us=median(delay_us),
        delay_p90_us=quantile(delay_us, 0.9),
        mean_depth=float(np.maximum(in_flight, 0).sum() / max(high - low, 1)),
    )
