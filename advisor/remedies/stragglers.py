"""Against waiting for the slowest rank: mend what is slow there, or spread the work evenly."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Proposal


def propose(case: Case) -> Iterator[Proposal]:
    """By the stage that makes the rank late."""
    rest = case.step_s - case.exposed_s
    mended = StepEstimate(rest, rest + 0.1 * case.exposed_s, rest + 0.6 * case.exposed_s)
    rank = next((where.rank for where in case.finding.where if where.rank is not None), None)
    basis = "what the late rank keeps the others waiting, measured at the collectives"
    match case.finding.cause:
        case "slow-data-loading":
            yield Proposal(
                method="dataloader-num-workers",
                how=f"look at what rank {rank} reads; give its DataLoader workers (num_workers=…) or a faster store",
                basis=basis,
                effort=Effort.LINES,
                estimate=mended,
            )
            yield Proposal(
                method="local-disk-cache",
                how=f"copy the part of the data that rank {rank} reads to a local disk first",
                basis=basis,
                effort=Effort.LINES,
                estimate=mended,
            )
        case "uneven-work":
            yield Proposal(
                method="length-bucketing",
                how="group samples of similar length, and deal them out so that each rank gets equal work per step",
                basis="the last rank's own time above the mean of the ranks",
                effort=Effort.LINES,
                estimate=mended,
            )
        case _:
            yield Proposal(
                method="topology-aware-placement",
                how=f"compare rank {rank}'s host with the others: cores, clocks, neighbours, code that only it runs",
                basis=basis,
                effort=Effort.LINES,
                estimate=mended,
            )
