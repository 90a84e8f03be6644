"""Stragglers: ranks wait in their collectives for one that arrives late. Needs traces of several ranks."""

from __future__ import annotations

from ...report import Fact, Finding, Where
from ...vocabulary import Kind
from .finding import finding, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Time that ranks wait with nothing else to do, where one rank stands out as the one they wait for."""
    skew = seen.skew
    if skew is None or skew.late_rank is None:
        return []
    return finding(
        Kind.STRAGGLERS,
        seen.late_share,
        seen,
        cause="late-rank",
        where=[Where(rank=skew.late_rank)],
        evidence=[
            share_fact("waiting for the last rank, mean over ranks", skew.waiting_share),
            share_fact("of the window, that no other kernel hides", seen.late_share, basis="derived"),
            share_fact("collectives on the wire", skew.wire_share),
            Fact(name="collectives matched", value=skew.matched),
            Fact(name=f"times that rank {skew.late_rank} came last", value=skew.times_last),
            Fact(name="mean spread of arrival", value=round(skew.skew_mean_s * 1000, 3), unit="ms"),
        ],
        summary=f"Stragglers: ranks wait {percent(seen.late_share)} of the time in collectives, "
        f"mostly for rank {skew.late_rank}.",
    )
