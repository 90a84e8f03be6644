"""Makes a `Finding` of a kind from a share, with the severity that the table of thresholds gives it."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import Fact, Finding, Where
from ...vocabulary import Confidence, Kind
from ..thresholds import DEVICE_LEVELS
from .observation import DeviceObservation


def share_fact(name: str, share: float, *, basis: str = "measured") -> Fact:
    """A share as evidence."""
    return Fact(name=name, value=round(share, 4), unit="share", basis=basis)


def finding(
    kind: Kind,
    share: float,
    seen: DeviceObservation,
    *,
    summary: str,
    cause: str | None = None,
    confidence: Confidence = Confidence.HIGH,
    evidence: Sequence[Fact] = (),
    where: Sequence[Where] = (),
    exposed: bool = True,
) -> list[Finding]:
    """A list of one finding, or of none where ``share`` lies below the threshold of its kind.

    ``exposed`` is false where the share is no time that could be saved: it then decides the severity only.
    """
    severity = DEVICE_LEVELS[kind].severity(share)
    if severity is None:
        return []
    return [
        Finding(
            kind=kind,
            family=kind.family,
            cause=cause,
            share=share if exposed else 0.0,
            ms_per_step=seen.ms_per_step * share if exposed else 0.0,
            severity=severity,
            confidence=confidence,
            where=list(where),
            evidence=list(evidence),
            summary=summary,
        )
    ]


def hottest_kernel(seen: DeviceObservation, *classes: str) -> tuple[list[Where], list[Fact]]:
    """The kernel that takes most time in these classes, as a place and as evidence; empty where none was named."""
    found = [seen.hottest_kernels[name] for name in classes if name in seen.hottest_kernels]
    if not found:
        return [], []
    kernel = max(found, key=lambda one: one.share)
    return [Where(kernel=kernel.name)], [share_fact("hottest kernel, of kernel time", kernel.share)]


def percent(share: float) -> str:
    """A share for a sentence."""
    return f"{share * 100:.0f} %"
