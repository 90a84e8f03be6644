"""Findings from estimated shares: what a stage's share means, graded by the low end of its interval."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnosis.finding import percent, short_path
from ..diagnosis.thresholds import BUSY_WORKER_SHARE, STEP_LEVELS, WIDE_INTERVAL
from ..report import Estimate, EstimatedLine, EstimatedShare, EstimatedWorker, Fact, Finding, Where
from ..vocabulary import Confidence, Kind, Severity, Stage

_KINDS = {
    Stage.DATA_WAIT: Kind.DATA_LOADING,
    Stage.H2D: Kind.H2D_TRANSFER,
    Stage.OPTIMIZER: Kind.OPTIMIZER_STEP,
    Stage.COMMUNICATION: Kind.COMMUNICATION,
    Stage.HOST: Kind.HOST_PYTHON,
    Stage.CHECKPOINT: Kind.CHECKPOINT_IO,
    Stage.EVALUATION: Kind.EVALUATION,
}
_WORDS = {
    Stage.DATA_WAIT: "The training loop waits for data",
    Stage.H2D: "The training loop copies to the device",
    Stage.OPTIMIZER: "The optimizer updates",
    Stage.COMMUNICATION: "The training loop is in collectives",
    Stage.HOST: "Python code between the stages runs",
    Stage.CHECKPOINT: "The training loop saves checkpoints",
    Stage.EVALUATION: "The run evaluates",
    Stage.FORWARD: "Forward and backward run",
}


def estimated_findings(
    estimate: Estimate, loading: Sequence[EstimatedLine], own_loading: bool, by_hand: bool = False
) -> list[Finding]:
    """The findings of an estimate, headline first; they carry shares and no milliseconds.

    Args:
        estimate: stages, lines and workers.
        loading: the lines that batches are made in.
        own_loading: the training process makes its batches itself, in a ``DataLoader`` without workers.
        by_hand: it makes them in a function of its own.
    """
    found = [
        finding
        for stage in estimate.stages
        if (finding := _finding(stage, estimate, loading, own_loading, by_hand)) is not None
    ]
    found += _compute(estimate)
    return sorted(found, key=lambda finding: (finding.severity is Severity.NOTE, -finding.share))


def _finding(
    stage: EstimatedShare,
    estimate: Estimate,
    loading: Sequence[EstimatedLine],
    own_loading: bool,
    by_hand: bool,
) -> Finding | None:
    kind = _KINDS.get(stage.name)
    if kind is None:
        return None
    is_data = stage.name is Stage.DATA_WAIT
    lines = loading if is_data and loading else _lines(estimate, stage.name)
    cause = _loading_cause(estimate, own_loading, by_hand) if is_data else None
    why = f": {cause[1]}" if cause is not None else ""
    return _graded(
        kind,
        stage,
        cause=None if cause is None else cause[0],
        summary=f"{_WORDS[stage.name]} {shares(stage)}{why}{_at(lines)}.",
        lines=lines,
        workers=estimate.workers if is_data else (),
    )


def _compute(estimate: Estimate) -> list[Finding]:
    """The model's own work, which is never more than a note."""
    parts = [stage for stage in estimate.stages if stage.name in (Stage.FORWARD, Stage.BACKWARD)]
    if not parts:
        return []
    together = EstimatedShare(
        name=Stage.FORWARD,
        share=min(sum(part.share for part in parts), 1.0),
        low=min(sum(part.low for part in parts), 1.0),
        high=min(sum(part.high for part in parts), 1.0),
        samples=sum(part.samples for part in parts),
    )
    summary = f"{_WORDS[Stage.FORWARD]} {shares(together)}: that is the model itself."
    found = _graded(Kind.COMPUTE, together, cause="model-compute", summary=summary)
    return [] if found is None else [found]


def _graded(
    kind: Kind,
    stage: EstimatedShare,
    *,
    cause: str | None,
    summary: str,
    lines: Sequence[EstimatedLine] = (),
    workers: Sequence[EstimatedWorker] = (),
) -> Finding | None:
    """A finding as severe as the low end of its interval; None where that lies below the threshold."""
    severity = STEP_LEVELS.get(kind, STEP_LEVELS[Kind.DATA_LOADING]).severity(stage.low)
    if severity is None:
        return None
    facts = [
        Fact(name="share of samples", value=stage.share),
        Fact(name="low end of its 95 % interval", value=stage.low, basis="derived"),
        Fact(name="high end", value=stage.high, basis="derived"),
        *(Fact(name=f"worker {one.pid} making batches", value=one.busy_share) for one in workers[:16]),
    ]
    return Finding(
        kind=kind,
        family=kind.family,
        cause=cause,
        share=stage.share,
        ms_per_step=None,
        severity=severity,
        confidence=Confidence.LOW if stage.high - stage.low > WIDE_INTERVAL else Confidence.MEDIUM,
        where=[Where(file=line.file, line=line.line, function=line.function) for line in lines],
        evidence=facts,
        summary=summary,
    )


def _loading_cause(estimate: Estimate, own_loading: bool, by_hand: bool) -> tuple[str, str] | None:
    """The cause of waiting for data and what was seen of it; None where the workers tell nothing."""
    workers = estimate.workers
    if own_loading and not workers:
        return "main-process-loading", "it makes its batches itself, with no worker process"
    if not workers:
        return ("batches-by-hand", "it makes them by itself, with no DataLoader") if by_hand else None
    busy = sum(worker.busy_share for worker in workers) / len(workers)
    at_once = max(round(sum(worker.samples for worker in workers) / max(estimate.samples, 1)), 1)
    count = f"its {at_once} worker process{'es' if at_once != 1 else ''}"
    if busy < BUSY_WORKER_SHARE:
        return None
    known = [worker.cpu_share for worker in workers if worker.cpu_share is not None]
    cpu = f", computing for {percent(sum(known) / len(known))} of it" if known else ""
    return "too-few-workers", f"{count} make batches {percent(busy)} of their time{cpu}"


def _lines(estimate: Estimate, stage: Stage) -> list[EstimatedLine]:
    return [line for line in estimate.lines if line.stage is stage and line.user_code][:3]


def shares(stage: EstimatedShare) -> str:
    """A share with its interval, for a sentence."""
    return f"an estimated {percent(stage.share)} of the time ({percent(stage.low)} to {percent(stage.high)})"


def _at(lines: Sequence[EstimatedLine]) -> str:
    if not lines:
        return ""
    line = lines[0]
    return f", mostly at {short_path(line.file)}:{line.line} ({line.function})"
