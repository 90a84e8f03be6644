"""Data loading: the device is idle while the training thread waits in its loader."""

from __future__ import annotations

from ...report import Fact, Finding
from ...vocabulary import Confidence, IdleCause, Kind
from .finding import finding, percent, share_fact
from .observation import DeviceObservation

_CAUSES = {"single-process": "main-process-loading", "multi-process": "too-few-workers"}


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Idle time of the device in the loader; without a device, the loader's share of host time."""
    if seen.data_wait_share is None:
        return []
    exposed = seen.cause_share(IdleCause.DATA) if seen.device_active else seen.data_wait_share
    who = "the device is idle" if seen.device_active else "the training thread waits"
    loader = f"the {seen.loader} loader" if seen.loader else "the loader"
    evidence = [share_fact("time in the loader", seen.data_wait_share)]
    if seen.device_active:
        evidence.insert(0, share_fact("device idle while loading", exposed))
    if seen.loader:
        evidence.append(Fact(name="loader", value=seen.loader, basis="setup"))
    return finding(
        Kind.DATA_LOADING,
        exposed,
        seen,
        cause=_CAUSES.get(seen.loader or ""),
        confidence=Confidence.HIGH if seen.loader == "single-process" else Confidence.MEDIUM,
        evidence=evidence,
        summary=f"Data loading: for {percent(exposed)} of the time {who} in {loader}.",
    )
