"""Against exposed gradient exchange: do it once a step, in larger pieces, in fewer bytes, over the right link."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..predict.exchange import CPU_RATE, GPU_RATE, Exchange, default_buckets
from ..proposal import Case, Effort, Fit, Proposal
from .debugging import left_on

MIB = 2**20
#: Collectives that a script calls per layer or per value: joining them is the answer, not fewer bytes.
COMPLETE = frozenset(
    {"sync-batchnorm", "per-parameter-collectives", "loss-allreduce-every-step", "distributed-debug"}
)
INTERVAL = 10


def propose(case: Case) -> Iterator[Proposal]:
    """By cause: what makes the exchange larger than it needs to be comes first."""
    match case.cause:
        case "sync-batchnorm":
            yield _local_statistics(case)
            return
        case "per-parameter-collectives":
            yield _in_buckets(case)
            return
        case "loss-allreduce-every-step":
            yield from _losses(case)
            return
        case "sharded-parameters":
            yield from _kept_gathered(case)
        case "distributed-debug":
            yield from left_on(case)
            return
        case _:
            pass
    yield from _once_a_step(case)
    yield from _unused_parameters(case)
    yield from _bucket_size(case)
    yield from _transport(case)
    yield from _fewer_bytes(case)


def _once_a_step(case: Case) -> Iterator[Proposal]:
    micro = case.report.batches_per_step or 1.0
    if case.cause != "accumulation-without-no-sync" or micro < 1.5:
        return
    yield Proposal(
        method="ddp-no-sync",
        knob=f"ddp.no_sync={round(micro)}",
        how="with model.no_sync(): around forward and backward of all micro-batches but the last",
        basis=f"one exchange per step instead of {micro:.0f}",
        effort=Effort.LINES,
        estimate=case.remaining(1 / micro, 1.1 / micro, min(2 / micro, 1.0)),
        fit=Fit.CAUSE,
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
        estimate=case.remaining(0.5, 0.85, 1.0),
        fit=Fit.CAUSE,
    )


def _kept_gathered(case: Case) -> Iterator[Proposal]:
    """Of two gathers and one scatter of all parameters per step, the second gather goes."""
    if case.setup("fsdp.reshard_after_forward") is False:
        return
    yield Proposal(
        method="fsdp-no-reshard",
        how="fully_shard(block, reshard_after_forward=False), where the gathered parameters fit in memory",
        basis="parameters are gathered once a step, not twice: two of three transfers remain",
        effort=Effort.LINES,
        estimate=case.remaining(0.6, 0.7, 1.0),
        fit=Fit.CAUSE,
    )


def _bucket_size(case: Case) -> Iterator[Proposal]:
    bucket, total = case.number("ddp.bucket_bytes_cap"), case.number("ddp.gradient_bytes")
    if case.cause != "small-buckets" or not bucket or total is None:
        return
    now = min(total / bucket, case.number("ddp.tensors") or math.inf)
    exchange = _exchange(case, now, total)
    likely = exchange.remaining(default_buckets(total))
    yield Proposal(
        method="ddp-bucket-cap",
        knob="ddp.bucket_cap_mb=25",
        how=f"DistributedDataParallel(..., bucket_cap_mb=25)  # it is {bucket / MIB:.2g} now",
        basis=(
            f"{default_buckets(total)} all-reduces in place of about {now:.0f}, each with the latency that "
            f"assumed links of {exchange.rate / 1e9:g} GB/s leave of the measured time"
        ),
        effort=Effort.SWITCH,
        estimate=case.remaining(likely / 2, likely, (1 + likely) / 2),
        fit=Fit.CAUSE,
    )


def _exchange(case: Case, collectives: float, total_bytes: float) -> Exchange:
    rate = CPU_RATE if case.setup("device.kind") == "cpu" else GPU_RATE
    return Exchange(case.exposed_s, collectives, total_bytes, rate)


def _joined(case: Case) -> StepEstimate:
    """All parameters' gradients in DDP's buckets; half of the exposed time where their number is unknown."""
    tensors, total = case.number("optimizer.tensors"), case.number("model.parameter_bytes")
    if not tensors or total is None:
        return case.remaining(0.1, 0.5, 0.9)
    likely = _exchange(case, tensors, total).remaining(default_buckets(total))
    return case.remaining(0.0, likely, (1 + likely) / 2)


def _in_buckets(case: Case) -> Proposal:
    return Proposal(
        method="ddp",
        how=(
            "DistributedDataParallel(model) joins gradients in buckets of 25 MB and sends them during backward; "
            "by hand: one flat buffer, async_op=True, and a wait before the update"
        ),
        basis=case_basis(
            case, "few large exchanges beside backward in place of one after the other per parameter"
        ),
        effort=Effort.LINES,
        estimate=case.what_if("communication_overlapped") or _joined(case),
        fit=Fit.CAUSE,
    )


def case_basis(case: Case, otherwise: str) -> str:
    """What an overlap's estimate rests on."""
    replayed = case.what_if("communication_overlapped") is not None
    return "replaying the trace with collectives beside the computation" if replayed else otherwise


def _local_statistics(case: Case) -> Proposal:
    batch = case.number("loader.batch_size")
    each = "" if batch is None else f" (it has {batch:g})"
    return Proposal(
        method="local-batchnorm",
        how=f"leave out convert_sync_batchnorm where a rank has 16 samples or more{each}; "
        "PyTorch before 1.6 sends three small collectives a layer, newer ones two",
        basis="the measured time in the norm layers' collectives",
        effort=Effort.LINES,
        estimate=case.remaining(0.05, 0.3, 1.0),
        fit=Fit.CAUSE,
    )


def _losses(case: Case) -> Iterator[Proposal]:
    yield Proposal(
        method="eval-and-log-frequency",
        how=f"reduce losses over ranks only where they are printed, all in one tensor: `if step % {INTERVAL} == 0:`",
        basis=f"the measured time of these collectives in one step of {INTERVAL}",
        effort=Effort.LINES,
        estimate=case.remaining(1 / INTERVAL, 1 / INTERVAL, 0.6),
        fit=Fit.CAUSE,
    )
    yield Proposal(
        method="avoid-host-sync",
        how="keep losses on the device; reduce them with async_op=True, and read them a step later",
        basis="the waiting behind these collectives; what stays is the transfer",
        effort=Effort.LINES,
        estimate=case.remaining(0.2, 0.5, 1.0),
        fit=Fit.CAUSE,
    )


def _transport(case: Case) -> Iterator[Proposal]:
    if case.setup("device.kind") == "cpu" or case.setup("nodes") == 1:
        return
    slow = case.cause == "slow-nccl-transport"
    yield Proposal(
        method="nccl-tuning",
        how=(
            "NCCL_DEBUG=INFO says which transport is used: NET/IB with GDRDMA is wanted "
            "(nvidia-peermem loaded, PCIe ACS off, NCCL_NET_GDR_READ=1 to compare); nccl-tests shows the rate"
        ),
        basis="public reports gained 1.5 times the rate where the transport was wrong, and nothing where it was right",
        effort=Effort.LINES,
        estimate=case.remaining(0.3, 0.66, 1.0) if slow else case.remaining(0.5, 0.9, 1.0),
        fit=Fit.CAUSE if slow else Fit.KIND,
    )


def _fewer_bytes(case: Case) -> Iterator[Proposal]:
    if case.setup("ddp.gradient_bytes") is None:
        return
    # gloo, which joins CPUs, does not sum bfloat16
    on_cpu = case.setup("device.kind") == "cpu"
    precision = "fp16" if on_cpu else "bf16"
    yield Proposal(
        method="fp16-bf16-compress-hook",
        knob="ddp.comm_hook_fp16=true" if on_cpu else "ddp.comm_hook_bf16=true",
        how=f"model.register_comm_hook(None, ddp_comm_hooks.default_hooks.{precision}_compress_hook)",
        basis="half the bytes; where latency dominates, nothing",
        effort=Effort.LINES,
        estimate=case.remaining(0.5, 0.75, 1.05),
    )
