"""Communication: collective kernels that no other kernel hides, waiting for late ranks included."""

from __future__ import annotations

from ...report import Finding
from ...vocabulary import Confidence, Kind
from ..thresholds import HIDDEN_COMMUNICATION_SHARE
from .finding import finding, hottest_kernel, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Exposed communication, less what matched ranks show to be waiting for a late one."""
    waiting = seen.late_share
    share = seen.communication_share - waiting
    busy = seen.communication_busy_share
    hidden = 1 - seen.communication_share / busy if busy > 0 else 0.0
    where, hottest = hottest_kernel(seen, "communication")
    partly = hidden >= HIDDEN_COMMUNICATION_SHARE
    return finding(
        Kind.COMMUNICATION,
        share,
        seen,
        cause="partly-hidden" if partly else "not-overlapped",
        confidence=Confidence.HIGH if seen.skew is not None else Confidence.MEDIUM,
        where=where,
        evidence=[
            share_fact("exposed communication", seen.communication_share),
            share_fact("all communication", busy),
            *(
                [share_fact("of the exposed, waiting for the late rank", waiting, basis="derived")]
                if waiting
                else []
            ),
            *hottest,
        ],
        summary=f"Communication: for {percent(share)} of the time the device only communicates"
        f"{' although part of it is hidden' if partly else ''}.",
    )
