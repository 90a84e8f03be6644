"""Memory bandwidth: kernels that read and write more than they compute take most of the device's time."""

from __future__ import annotations

from ...report import Finding
from ...vocabulary import Confidence, Kind
from ..thresholds import LAYOUT_SHARE
from .finding import finding, hottest_kernel, percent, share_fact
from .observation import DeviceObservation

_BOUND = ("elementwise", "normalization", "reduction", "indexing")


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Share of the window in element-wise, normalisation, reduction and indexing kernels, judged by name."""
    working = sum(
        share for name, share in seen.kernel_shares.items() if name not in ("communication", "copy")
    )
    if working <= 0:
        return []
    bound = (sum(seen.kernel_shares.get(name, 0.0) for name in _BOUND) + seen.layout_share) / working
    converts = seen.layout_share >= LAYOUT_SHARE
    share = bound * seen.compute_share
    where, hottest = hottest_kernel(seen, *_BOUND)
    return finding(
        Kind.MEMORY_BANDWIDTH,
        share,
        seen,
        cause="layout-conversions" if converts else "unfused-kernels",
        confidence=Confidence.MEDIUM,
        where=where,
        evidence=[
            share_fact("window in bandwidth-bound kernel classes, by kernel name", share, basis="derived"),
            *[
                share_fact(f"{name} kernels, of kernel time", seen.kernel_shares[name])
                for name in _BOUND
                if seen.kernel_shares.get(name)
            ],
            *([share_fact("layout conversions, of kernel time", seen.layout_share)] if converts else []),
            *hottest,
        ],
        summary=f"Memory bandwidth: kernels that mostly move memory take {percent(share)} of the time"
        f"{', some of them to convert image layouts around convolutions' if converts else ''}.",
    )
