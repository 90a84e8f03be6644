"""Debugging aids that were left on: they serialise the host with the device, or check each operator or collective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...profiler.vocabulary import Kind, Stage
from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Fit, Proposal

#: Anomaly detection slows a step by half to two and a half times in public reports (1.5, 2.5, 2.5).
ANOMALY_REMAINS = (0.4, 0.5, 0.85)
#: With CUDA_LAUNCH_BLOCKING the host never runs ahead, so that all its own time shows.
BLOCKING_REMAINS = (0.1, 0.4, 1.0)
#: A profiler costs each operator a few microseconds, which only long kernels hide.
PROFILER_REMAINS = (0.6, 0.9, 1.0)
#: What of an aid's cost stays, likely and at worst, where that cost is what the finding is about; and how much more
#: than the finding holds it may have been at best: what an aid adds to an operation was measured up to so far above.
COST_REMAINS, COST_AT_BEST = (0.05, 0.7), 1.25
#: What an operation takes at least, forward and backward, without any aid: loops of tiny ones measured 7 microseconds.
LEAST_OPERATION_S = 5e-6
#: Collectives that are checked by further collectives go once the checks do.
CHECKS_REMAIN = (0.1, 0.4, 1.0)


#: Where the time shows of what is done for each operation, on the host and as small kernels.
_OPERATIONS = frozenset({Kind.LAUNCH_OVERHEAD, Kind.HOST_SYNC, Kind.HOST_PYTHON, Kind.COMPUTE})
#: Where the time shows of waiting for each launch: kernels take as long as before.
_WAITING = frozenset({Kind.LAUNCH_OVERHEAD, Kind.HOST_SYNC, Kind.HOST_PYTHON})


@dataclass(frozen=True)
class _Aid:
    """A debugging aid: the setup fact and value that tell of it, what it is called, and whose time it takes."""

    fact: str
    value: object
    name: str
    how: str
    remains: tuple[float, float, float]
    costs: frozenset[Kind]


_AIDS = {
    "anomaly-detection": _Aid(
        "torch.anomaly_mode",
        True,
        "anomaly detection",
        "take torch.autograd.set_detect_anomaly(True) (Lightning: detect_anomaly=True) out; use it only to find a NaN",
        ANOMALY_REMAINS,
        _OPERATIONS,
    ),
    "launch-blocking": _Aid(
        "env.cuda_launch_blocking",
        True,
        "CUDA_LAUNCH_BLOCKING",
        "unset CUDA_LAUNCH_BLOCKING, in the shell and in the script's os.environ",
        BLOCKING_REMAINS,
        _WAITING,
    ),
    "profiler-left-on": _Aid(
        "torch.profiler",
        True,
        "a profiler",
        "end the torch.profiler or autograd profiler after a few steps (schedule=torch.profiler.schedule(...))",
        PROFILER_REMAINS,
        _OPERATIONS,
    ),
    "distributed-debug": _Aid(
        "env.torch_distributed_debug",
        "detail",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL",
        "unset TORCH_DISTRIBUTED_DEBUG: DETAIL has each collective checked by others before it",
        CHECKS_REMAIN,
        frozenset({Kind.COMMUNICATION}),
    ),
}
CAUSES = frozenset(_AIDS)
#: Causes whose finding exposes the aid's cost alone.
_COSTED = CAUSES - {"distributed-debug"}


def aids_on(kind: Kind, setup: Mapping[str, object]) -> list[str]:
    """The causes whose aid is on, by the facts of a run, and takes time that a finding of this kind holds."""
    return [cause for cause, aid in _AIDS.items() if kind in aid.costs and setup.get(aid.fact) == aid.value]


def left_on(case: Case) -> Iterator[Proposal]:
    """Switching debugging off, where the run says that it is on and that the finding's time is its."""
    known = aids_on(case.finding.kind, case.report.setup)
    on = [cause for cause in _AIDS if case.cause == cause or cause in known]
    for cause in sorted(on, key=lambda cause: cause != case.cause)[:1]:
        yield _off(case, cause, _AIDS[cause])


def _off(case: Case, cause: str, aid: _Aid) -> Proposal:
    most_s = _most_removed_s(case)
    reports = "; public reports tell of steps 1.5 to 2.5 times as fast without"
    return Proposal(
        method="disable-debug-apis",
        knob=None if cause == "profiler-left-on" else "debug.off=true",
        how=aid.how,
        basis=f"{aid.name} is on in this run{reports if cause == 'anomaly-detection' else ''}",
        effort=Effort.LINES if cause == "profiler-left-on" else Effort.SWITCH,
        estimate=_without_its_cost(case, most_s) if case.cause in _COSTED else case.remaining(*aid.remains),
        fit=Fit.CAUSE,
        removes_s=most_s,
    )


def _without_its_cost(case: Case, most_s: float | None) -> StepEstimate:
    likely, worst = COST_REMAINS
    left = case.remaining(likely, likely, worst)
    gone_s = min(COST_AT_BEST * case.exposed_s, max(most_s or 0.0, case.exposed_s))
    return StepEstimate(min(case.step_s - gone_s, left.likely_s), left.likely_s, left.worst_s)


def _most_removed_s(case: Case) -> float | None:
    """What the operations of the model take beyond the least; None where they were not counted."""
    operations = case.evidence("operations per step")
    if case.cause not in _COSTED or not isinstance(operations, int | float):
        return None
    model_s = case.stage_s(Stage.FORWARD) + case.stage_s(Stage.BACKWARD)
    return max(model_s - operations * LEAST_OPERATION_S, 0.0)
