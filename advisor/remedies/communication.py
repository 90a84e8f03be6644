"""Against exposed gradient exchange: do it once a step, in larger pieces, in fewer bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Proposal

MIB = 2**20


def propose(case: Case) -> Iterator[Proposal]:
    """By cause: what makes the exchange larger than it needs to be comes first."""
    yield from _once_a_step(case)
    yield from _unused_parameters(case)
    yield from _bucket_size(case)
    yield from _fewer_bytes(case)


def _left(case: Case, best: float, likely: float, worst: float) -> StepEstimate:
    """The step if these shares of the exposed exchange remain."""
    rest = case.step_s - case.exposed_s
    return StepEstimate(*(rest + share * case.exposed_s for share in (best, likely, worst)))


def _once_a_step(case: Case) -> Iterator[Proposal]:
    micro = case.report.batches_per_step or 1.0
    if case.finding.cause != "accumulation-without-no-sync" or micro < 1.5:
        return
    yield Proposal(
        method="ddp-no-sync",
        how="with model.no_sync(): around forward and backward of all micro-batches but the last",
        basis=f"one exchange per step instead of {micro:.0f}",
        effort=Effort.LINES,
        estimate=_left(case, 1 / micro, 1.1 / micro, min(2 / micro, 1.0)),
    )


def _unused_parameters(case: Case) -> Iterator[Proposal]:
    if not case.setup("ddp.find_unused_parameters"):
        return
    yield Proposal(
        method="ddp-find-unused-off",
        knob="ddp.find_unused_parameters=false",
        how="DistributedDataParallel(..., find_unused_parameters=False), if every parameter is used in each step",
        basis="the walk over the graph after each forward goes; its share of the exchange is not measured apart",
        effort=Effort.SWITCH,
        estimate=_left(case, 0.5, 0.85, 1.0),
    )


def _bucket_size(case: Case) -> Iterator[Proposal]:
    bucket = case.number("ddp.bucket_bytes_cap")
    if case.finding.cause != "small-buckets" or bucket is None:
        return
    yield Proposal(
        method="ddp-bucket-cap",
        knob="ddp.bucket_cap_mb=25",
        how=f"DistributedDataParallel(..., bucket_cap_mb=25)  # it is {bucket / MIB:.2g} now",
        basis="fewer, larger all-reduces; what latency and what bandwidth takes is not measured apart",
        effort=Effort.SWITCH,
        estimate=_left(case, 0.2, 0.5, 0.9),
    )


def _fewer_bytes(case: Case) -> Iterator[Proposal]:
    if case.setup("ddp.gradient_bytes") is None:
        return
    yield Proposal(
        method="fp16-bf16-compress-hook",
        knob="ddp.comm_hook_bf16=true",
        how="model.register_comm_hook(None, ddp_comm_hooks.default_hooks.bf16_compress_hook)",
        basis="half the bytes; where latency dominates, nothing",
        effort=Effort.LINES,
        estimate=_left(case, 0.5, 0.75, 1.05),
    )
