"""Host-to-device transfer: copies of inputs that no kernel hides."""

from __future__ import annotations

from ...report import Fact, Finding
from ...vocabulary import Kind
from ..thresholds import PAGEABLE_SHARE
from .finding import finding, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Exposed time of copies to the device."""
    if not seen.device_active:
        return []
    pageable = seen.h2d_pageable_share is not None and seen.h2d_pageable_share >= PAGEABLE_SHARE
    evidence = [share_fact("exposed copy to the device", seen.h2d_exposed_share), *_rate(seen)]
    if seen.h2d_pageable_share is not None:
        evidence.append(share_fact("bytes from pageable memory", seen.h2d_pageable_share))
    return finding(
        Kind.H2D_TRANSFER,
        seen.h2d_exposed_share,
        seen,
        cause="pageable-memory" if pageable else "not-overlapped",
        evidence=evidence,
        summary=f"Host-to-device copies: for {percent(seen.h2d_exposed_share)} of the time "
        "the device only copies its input.",
    )


def _rate(seen: DeviceObservation) -> list[Fact]:
    if not seen.h2d_bytes or seen.h2d_s <= 0:
        return []
    return [
        Fact(
            name="copy rate", value=round(seen.h2d_bytes / seen.h2d_s / 1e9, 2), unit="GB/s", basis="derived"
        )
    ]
