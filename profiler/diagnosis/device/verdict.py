"""All rules on a device trace, the order of their findings, and the one sentence on top.

The headline is the finding whose removal would save most exposed time. Time spent computing is no waiting, so
compute-side findings head the list only where no wait is moderate or high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...report import NOT_ENOUGH_EVIDENCE, Finding
from ...vocabulary import Kind, Severity
from . import (
    communication,
    compute,
    data_loading,
    h2d_transfer,
    host_sync,
    launch_overhead,
    memory_bandwidth,
    memory_capacity,
    optimizer_step,
    stragglers,
)
from .finding import percent
from .observation import DeviceObservation

Rule = Callable[[DeviceObservation], list[Finding]]

RULES: tuple[Rule, ...] = (
    data_loading.find_in_trace,
    h2d_transfer.find_in_trace,
    communication.find_in_trace,
    stragglers.find_in_trace,
    launch_overhead.find_in_trace,
    host_sync.find_in_trace,
    compute.find_in_trace,
    memory_bandwidth.find_in_trace,
    optimizer_step.find_in_trace,
    memory_capacity.find_in_trace,
)
WORK = frozenset({Kind.COMPUTE, Kind.MEMORY_BANDWIDTH, Kind.OPTIMIZER_STEP, Kind.MEMORY_CAPACITY})
"""Kinds that are work of the device, not waiting."""

_WORK_ORDER = (Kind.COMPUTE, Kind.MEMORY_BANDWIDTH, Kind.OPTIMIZER_STEP, Kind.MEMORY_CAPACITY)


def find_all(seen: DeviceObservation) -> list[Finding]:
    """Findings of all rules, the headline first."""
    return sorted((found for rule in RULES for found in rule(seen)), key=order_key)


def order_key(found: Finding) -> tuple[bool, int, float]:
    """Sorts findings: notes last, work of the device behind waits, then by share."""
    waits = found.kind not in WORK
    return (found.severity is Severity.NOTE, 0 if waits else 1 + _WORK_ORDER.index(found.kind), -found.share)


def headline(findings: Sequence[Finding]) -> Finding | None:
    """The first finding, if it is more than a note."""
    first = next(iter(findings), None)
    return first if first is not None and first.severity is not Severity.NOTE else None


def enough_evidence(seen: DeviceObservation) -> bool:
    """Whether the trace holds what a verdict needs: device work, or a host thread seen waiting."""
    return seen.device_active or (seen.host_active and bool(seen.data_wait_share))


def verdict(seen: DeviceObservation, findings: Sequence[Finding]) -> str:
    """The one sentence on top."""
    if not enough_evidence(seen):
        return f"{NOT_ENOUGH_EVIDENCE}: {missing(seen)}."
    first = headline(findings)
    if first is not None:
        return first.summary + _late_rank(first, findings)
    if not seen.device_active:
        return (
            f"{NOT_ENOUGH_EVIDENCE}: no device work was recorded, and the host thread hardly waits for data."
        )
    second = f"; the largest wait: {findings[0].summary}" if findings and findings[0].kind not in WORK else ""
    computes, idles = percent(seen.compute_share), percent(seen.idle_share)
    return f"Nothing dominates: the device computes {computes} of the time and idles {idles}{second}"


def _late_rank(first: Finding, findings: Sequence[Finding]) -> str:
    """A second sentence that names the late rank, where it is not the headline already."""
    others = [one for one in findings if one.kind is Kind.STRAGGLERS and one is not first]
    return f" {others[0].summary}" if others and others[0].severity is not Severity.NOTE else ""


def missing(seen: DeviceObservation) -> str:
    """What to record for a verdict."""
    if not seen.host_active:
        return (
            "the file holds neither device work nor operators; record with "
            "torch.profiler activities CPU and CUDA around several steps"
        )
    return "no device work was recorded; record with torch.profiler activities CPU and CUDA"
