"""Against waiting for the slowest rank: mend what is slow there, or spread the work evenly."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal
from .garbage_collection import collect_by_plan

#: What keeps ranks waiting is mended at its cause; the catalog's general answers do not know which rank is late.
COMPLETE = frozenset(
    {
        "slow-data-loading",
        "slow-forward",
        "slow-backward",
        "slow-optimizer",
        "slow-host-code",
        "checkpoint-on-one-rank",
        "evaluation-on-one-rank",
        "slow-copies",
        "uneven-work",
        "gc-pauses",
        "late-rank",
        None,
    }
)
_MEASURED = "what the late rank keeps the others waiting, measured at the collectives"


def propose(case: Case) -> Iterator[Proposal]:
    """By the stage that makes the rank late."""
    match case.cause:
        case "slow-data-loading":
            yield from _loading(case)
        case "uneven-work":
            yield from _even(case)
        case "gc-pauses":
            yield collect_by_plan(
                case,
                case.remaining(0.0, 0.2, 0.8),
                "pauses that meet on all ranks at once cost once, not once for each rank",
            )
        case "checkpoint-on-one-rank":
            yield _saving(case)
        case "evaluation-on-one-rank":
            yield _evaluating(case)
        case _:
            yield from _slow_place(case)


def late_rank(case: Case) -> str:
    """The rank that the others wait for, for a sentence."""
    rank = next((where.rank for where in case.finding.where if where.rank is not None), None)
    return "the late rank" if rank is None else f"rank {rank}"


def _loading(case: Case) -> Iterator[Proposal]:
    rank = late_rank(case)
    yield Proposal(
        method="dataloader-num-workers",
        how=f"look at what {rank} reads; give its DataLoader workers (num_workers=…) or a faster store",
        basis=_MEASURED,
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.02, 0.6),
        fit=Fit.CAUSE,
    )
    yield Proposal(
        method="local-disk-cache",
        how=f"copy the part of the data that {rank} reads to a local disk first",
        basis=_MEASURED,
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.1, 0.8),
        fit=Fit.CAUSE,
    )


def _even(case: Case) -> Iterator[Proposal]:
    """Steps differ with the work in them here, so that quick ones do not show what the rest takes by itself."""
    basis = "the last rank's own time above the mean of the ranks"
    yield Proposal(
        method="length-bucketing",
        how="group samples of similar length, and deal them out so that each rank gets equal work per step",
        basis=basis,
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.2, 0.8),
        fit=Fit.CAUSE,
        relieves=False,
    )
    yield Proposal(
        method="token-budget-batching",
        how="fill each rank's batch up to the same number of tokens, not of samples",
        basis=basis,
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.25, 0.8),
        fit=Fit.CAUSE,
        relieves=False,
    )


def _saving(case: Case) -> Proposal:
    return Proposal(
        method="async-checkpoint",
        how="save in the background (torch.distributed.checkpoint.async_save), or a part on each rank, "
        f"not all of it on {late_rank(case)}",
        basis=_MEASURED,
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.2, 0.6),
        fit=Fit.CAUSE,
    )


def _evaluating(case: Case) -> Proposal:
    return Proposal(
        method="eval-and-log-frequency",
        how=f"spread evaluation over all ranks with a DistributedSampler: {late_rank(case)} does it alone now",
        basis=_MEASURED,
        effort=Effort.LINES,
        estimate=case.remaining(0.1, 0.4, 0.9),
        fit=Fit.CAUSE,
    )


def _slow_place(case: Case) -> Iterator[Proposal]:
    rank = late_rank(case)
    if case.setup("device.kind") != "cpu":
        yield Proposal(
            method="gpu-clock-power",
            how=f"compare clocks and throttle reasons of {rank}'s GPU: nvidia-smi -q -d PERFORMANCE,CLOCK",
            basis=_MEASURED,
            effort=Effort.LINES,
            estimate=case.remaining(0.0, 0.5, 1.0),
        )
    yield Proposal(
        method="cpu-affinity-numa",
        knob="threads.affinity=split",
        how=f"give each rank cores of its own; look for code that only {rank} runs (`if rank == 0:`)",
        basis=_MEASURED,
        effort=Effort.SWITCH,
        estimate=case.remaining(0.0, 0.6, 1.0),
    )
    yield Proposal(
        method="topology-aware-placement",
        how=f"compare {rank}'s host with the others: cores, clocks, links, neighbours",
        basis=_MEASURED,
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.6, 1.0),
    )
