"""Host synchronisation: the host blocks until the device has drained, and the device idles until it is fed
again.
"""

from __future__ import annotations

from ...report import Fact, Finding
from ...vocabulary import IdleCause, Kind
from .finding import finding, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Idle time in and right behind blocking calls."""
    share = seen.cause_share(IdleCause.SYNC)
    return finding(
        Kind.HOST_SYNC,
        share,
        seen,
        cause="blocking-call",
        evidence=[
            share_fact("device idle in and behind blocking calls", share),
            Fact(name="blocking calls in the window", value=seen.sync_calls),
        ],
        summary=f"Host sync: for {percent(share)} of the time the device idles "
        "because the host waited for it "
        "and has to feed it anew.",
    )
