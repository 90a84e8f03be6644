"""Optimizer step: device time of the kernels that the optimizer launched."""

from __future__ import annotations

from ...report import Finding
from ...vocabulary import Kind
from .finding import finding, hottest_kernel, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Device time of the optimizer, where its range and its launches were recorded."""
    share = seen.optimizer_device_share
    if share is None:
        return []
    where, hottest = hottest_kernel(seen, "optimizer")
    return finding(
        Kind.OPTIMIZER_STEP,
        share,
        seen,
        where=where,
        evidence=[share_fact("device time of the optimizer's kernels", share), *hottest],
        summary=f"Optimizer step: its kernels take {percent(share)} of the time.",
    )
