"""Memory capacity: the device's memory is nearly full. It costs no time yet, so it never is a headline."""

from __future__ import annotations

from ...report import Fact, Finding
from ...vocabulary import Confidence, Kind
from .finding import finding, percent
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Peak of reserved (or else allocated) memory against the device's memory."""
    peak = seen.peak_reserved_bytes if seen.peak_reserved_bytes is not None else seen.peak_allocated_bytes
    if peak is None or not seen.device_memory_bytes:
        return []
    share = peak / seen.device_memory_bytes
    return finding(
        Kind.MEMORY_CAPACITY,
        share,
        seen,
        exposed=False,
        confidence=Confidence.MEDIUM,
        evidence=[
            Fact(name="peak memory", value=peak, unit="bytes"),
            Fact(name="device memory", value=seen.device_memory_bytes, unit="bytes", basis="setup"),
        ],
        summary=f"Memory capacity: {percent(share)} of the device's memory is taken at the peak.",
    )
