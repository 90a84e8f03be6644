"""Launch overhead: the device is idle because the host issues work more slowly than the device does it."""

from __future__ import annotations

from ...report import Fact, Finding
from ...vocabulary import Confidence, IdleCause, Kind
from ..thresholds import SHORT_KERNEL_US
from .finding import finding, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Idle time while the host runs operators, launches, or Python between them."""
    if not seen.device_active or not seen.host_active:
        return []
    share = seen.cause_share(IdleCause.LAUNCH, IdleCause.HOST)
    evidence = [
        share_fact("device idle while the host issues work", seen.cause_share(IdleCause.LAUNCH)),
        share_fact("device idle while the host runs other code", seen.cause_share(IdleCause.HOST)),
        Fact(name="kernels in the window", value=seen.kernels),
    ]
    if seen.mean_kernel_us is not None:
        evidence.append(Fact(name="mean kernel", value=round(seen.mean_kernel_us, 2), unit="µs"))
    if seen.launch_delay_median_us is not None:
        evidence.append(
            Fact(
                name="median delay from launch to start",
                value=round(seen.launch_delay_median_us, 1),
                unit="µs",
            )
        )
    short = seen.mean_kernel_us is not None and seen.mean_kernel_us < SHORT_KERNEL_US
    return finding(
        Kind.LAUNCH_OVERHEAD,
        share,
        seen,
        cause="short-kernels" if short else "slow-host",
        confidence=Confidence.HIGH if seen.launch_delay_median_us is not None else Confidence.MEDIUM,
        evidence=evidence,
        summary=f"Launch overhead: for {percent(share)} of the time "
        "the device waits for the host to issue work"
        f"{_kernel_text(seen)}.",
    )


def _kernel_text(seen: DeviceObservation) -> str:
    return "" if seen.mean_kernel_us is None else f", with kernels of {seen.mean_kernel_us:.0f} µs on average"
