"""What the deep window of a recorded run adds: the device view of a few steps, and device-side findings.

On a device the host runs ahead and then waits: its stages alone would blame the line that happens to wait. So host-side
findings are held to the time in which the device had nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from .agent import format as layout
from .diagnosis.compute import MODEL_COMPUTE
from .diagnosis.device.verdict import find_all, order_key
from .diagnosis.finding import percent, share_of_step, speedup_alone
from .diagnosis.thresholds import STEP_LEVELS
from .errors import InputError
from .recording import RankRecording
from .report import DeviceShares, Fact, Finding
from .timeline.rank_summary import RankSummary, summarise_file
from .trace_report import device_shares
from .vocabulary import Kind

#: What the host does while the device could have worked: exposed only where the device is idle.
HOST_KINDS = frozenset(
    {
        Kind.DATA_LOADING,
        Kind.HOST_PYTHON,
        Kind.CHECKPOINT_IO,
        Kind.EVALUATION,
        Kind.LOGGING,
        Kind.GARBAGE_COLLECTION,
    }
)
#: What a host's clock says nothing about where a device computes.
DEVICE_KINDS = frozenset({Kind.COMPUTE, Kind.OPTIMIZER_STEP, Kind.CPU_THREADS, Kind.LAUNCH_OVERHEAD})
#: Of these, what the device's own clock tells right.
CLOCKED_KINDS = frozenset({Kind.COMPUTE, Kind.OPTIMIZER_STEP})


def read_deep_window(recording: RankRecording) -> tuple[RankSummary | None, str | None]:
    """The summary of a rank's own trace, and a note where there is a trace that cannot be read."""
    path = recording.folder / layout.TRACE_FILE
    if not path.is_file():
        return None, None
    try:
        return summarise_file(path), None
    except InputError as error:
        return None, f"the deep window could not be read: {error}"


def device_of(summary: RankSummary | None) -> DeviceShares | None:
    """The device view of the window; None where no device worked in it."""
    if summary is None or summary.device_window is None:
        return None
    return device_shares(summary.device_window, 0)


def with_device(
    findings: Sequence[Finding], summary: RankSummary, idle_share: float, *, is_clocked: bool = False
) -> list[Finding]:
    """Host findings held to the device's idle time, joined with those of the device; headline first.

    ``is_clocked``: the findings rest on the stages by the device's clock, so that they count exposed time already.
    """
    dropped = DEVICE_KINDS - CLOCKED_KINDS if is_clocked else DEVICE_KINDS
    held = [
        finding if is_clocked else _held(finding, idle_share)
        for finding in findings
        if finding.kind not in dropped
    ]
    traced = find_all(summary.observation)
    of_kind = {finding.kind: finding for finding in reversed(traced)}
    kept = [
        _explained(finding, of_kind.get(finding.kind)) if is_clocked else finding
        for finding in held
        if finding is not None
    ]
    known = {finding.kind for finding in kept}
    joined = kept + [finding for finding in traced if finding.kind not in known]
    return sorted(joined, key=order_key)


def _explained(finding: Finding, traced: Finding | None) -> Finding:
    """A finding by the device's clock with what only kernels tell: the cause, where it has none, and evidence."""
    if traced is None or finding.kind not in CLOCKED_KINDS:
        return finding
    cause = traced.cause if finding.cause in (None, MODEL_COMPUTE) and traced.cause else finding.cause
    known = {fact.name for fact in finding.evidence}
    added = [fact for fact in traced.evidence if fact.name not in known]
    return finding.model_copy(update={"cause": cause, "evidence": [*finding.evidence, *added]})


def _held(finding: Finding, idle_share: float) -> Finding | None:
    """The finding with no more than the idle share; None if that is not worth a note."""
    if finding.kind not in HOST_KINDS or finding.share <= idle_share:
        return finding
    severity = STEP_LEVELS[finding.kind].severity(idle_share)
    if severity is None:
        return None
    ms_per_step = None if finding.ms_per_step is None else finding.ms_per_step * idle_share / finding.share
    limit = f"the GPU had nothing to do for only {percent(idle_share)} of the time, which is all that can go"
    return finding.model_copy(
        update={
            "share": idle_share,
            "ms_per_step": ms_per_step,
            "severity": severity,
            "summary": f"{finding.summary.removesuffix('.')}; {limit}.",
            "evidence": _at_most(finding.evidence, idle_share),
        }
    )


def _at_most(evidence: Sequence[Fact], share: float) -> list[Fact]:
    """The evidence with what the finding can bring held to a share."""
    held = {fact.name: fact for fact in (share_of_step(share, basis="derived"), speedup_alone(share))}
    return [held.get(fact.name, fact) for fact in evidence]
