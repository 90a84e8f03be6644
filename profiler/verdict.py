"""The one sentence on top of a report."""

from __future__ import annotations

from collections.abc import Sequence

from .report import Finding, StepTime
from .vocabulary import Confidence, Kind, Severity


def verdict(findings: Sequence[Finding], step_time: StepTime | None, *, loss: str = "") -> str:
    """What limits the run; that nothing does; or that nothing can be said. A ``loss`` of ranks is told before it."""
    return f"{loss} {_limits(findings, step_time)}".strip()


def _limits(findings: Sequence[Finding], step_time: StepTime | None) -> str:
    if step_time is None:
        return "No training step was recorded, so nothing can be said about what this run waits for."
    headline = next((finding for finding in findings if finding.severity is not Severity.NOTE), None)
    if headline is not None:
        return headline.summary + _doubt(headline)
    compute = next((finding for finding in findings if finding.kind is Kind.COMPUTE), None)
    step = f"Nothing beside the model dominates the step of {step_time.p50_s * 1e3:.1f} ms."
    return (
        f"{step} {compute.summary}"
        if compute is not None
        else f"Nothing dominates the step of {step_time.p50_s * 1e3:.1f} ms."
    )


def _doubt(finding: Finding) -> str:
    return " This rests on few steps." if finding.confidence is Confidence.LOW else ""
