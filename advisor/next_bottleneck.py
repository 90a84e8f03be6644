"""What a step spends most time on once a prescription has done what is predicted of it."""

from __future__ import annotations

from collections.abc import Mapping

from ..profiler.vocabulary import Kind, Stage
from .proposal import Case, Proposal

_KINDS_OF_STAGE: Mapping[Stage, tuple[Kind, ...]] = {
    Stage.DATA_WAIT: (Kind.DATA_LOADING,),
    Stage.H2D: (Kind.H2D_TRANSFER,),
    Stage.FORWARD: (
        Kind.COMPUTE,
        Kind.LAUNCH_OVERHEAD,
        Kind.MEMORY_BANDWIDTH,
        Kind.CPU_THREADS,
        Kind.RECOMPILATION,
    ),
    Stage.BACKWARD: (Kind.COMPUTE, Kind.LAUNCH_OVERHEAD, Kind.MEMORY_BANDWIDTH, Kind.CPU_THREADS),
    Stage.OPTIMIZER: (Kind.OPTIMIZER_STEP,),
    Stage.COMMUNICATION: (Kind.COMMUNICATION, Kind.STRAGGLERS),
    Stage.HOST: (Kind.HOST_PYTHON, Kind.LOGGING, Kind.GARBAGE_COLLECTION, Kind.HOST_SYNC),
    Stage.CHECKPOINT: (Kind.CHECKPOINT_IO,),
    Stage.EVALUATION: (Kind.EVALUATION,),
}


def next_bottleneck(case: Case, proposal: Proposal) -> str | None:
    """The largest part of the step that is left; None where no step time is predicted."""
    predicted = case.prediction(proposal)
    if proposal.estimate is None or predicted is None:
        return None
    step_s = case.step_s / predicted.mid
    if not case.report.stages:
        return _finding_left(case, max(case.step_s - step_s, 0.0))
    return _stage_left(case, max(case.step_s - proposal.estimate.likely_s, 0.0), step_s)


def _stage_left(case: Case, gone: float, step_s: float) -> str:
    """What the finding's stages lose, and the rest in proportion, so that all sum to the predicted step."""
    left = {share.name: share.seconds_per_step for share in case.report.stages}
    for stage in [stage for stage in left if case.finding.kind in _KINDS_OF_STAGE[stage]]:
        taken = min(left[stage], gone)
        left[stage] -= taken
        gone -= taken
    scale = step_s / max(sum(left.values()), 1e-12)
    largest = max(left, key=lambda stage: left[stage])
    kind = next((one.kind for one in case.report.findings if one.kind in _KINDS_OF_STAGE[largest]), None)
    named = "" if kind is None else f" ({kind})"
    return f"{largest.label}{named}, {left[largest] * scale * 1e3:.1f} ms of {step_s * 1e3:.1f} ms"


def _finding_left(case: Case, gone: float) -> str | None:
    """For device traces, which have findings in place of stages."""
    left = {one.kind: one.ms_per_step for one in case.report.findings if one.ms_per_step}
    left[case.finding.kind] = max((case.finding.ms_per_step or 0.0) - gone * 1e3, 0.0)
    largest = max(left, key=lambda kind: left[kind])
    return f"{largest}, {left[largest]:.1f} ms per step"
