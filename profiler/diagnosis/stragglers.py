"""Ranks wait for the slowest of them, at the collective that levels all their wall times."""

from __future__ import annotations

from collections.abc import Mapping

from ..observation import Observation
from ..report import Fact, Finding, Where
from ..timeline.lateness import Lateness
from ..vocabulary import Kind, Stage
from .finding import ms, percent, timed_finding
from .thresholds import DOMINANT_PART, LAST_RANK_SHARE

_CAUSES = {
    Stage.DATA_WAIT: "slow-data-loading",
    Stage.FORWARD: "slow-forward",
    Stage.BACKWARD: "slow-backward",
    Stage.OPTIMIZER: "slow-optimizer",
    Stage.HOST: "slow-host-code",
    Stage.CHECKPOINT: "checkpoint-on-one-rank",
    Stage.EVALUATION: "evaluation-on-one-rank",
    Stage.H2D: "slow-copies",
}


def find(observation: Observation) -> Finding | None:
    """One rank that is late in most steps, or work that is spread unevenly from step to step."""
    late = observation.lateness
    if late is None:
        return None
    rank, share = max(late.last_share.items(), key=lambda item: item[1])
    return _one_rank(observation, late, rank) if share >= LAST_RANK_SHARE else _uneven(observation, late)


def _one_rank(observation: Observation, late: Lateness, rank: int) -> Finding | None:
    excess = late.excess_by_stage(rank)
    stage = max(excess, key=lambda stage: excess[stage])
    seconds = late.excess_s(rank)
    share = late.last_share[rank]
    return timed_finding(
        observation,
        Kind.STRAGGLERS,
        seconds,
        cause=_CAUSES[stage],
        summary=(
            f"Rank {rank} keeps the other ranks waiting {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}): its {stage.label} takes {ms(excess[stage])} longer."
        ),
        where=(Where(rank=rank),),
        evidence=(
            Fact(name=f"share of steps in which rank {rank} was last", value=share),
            Fact(name=f"{stage.label} of rank {rank} above the others", value=excess[stage] * 1e3, unit="ms"),
        ),
    )


def _uneven(observation: Observation, late: Lateness) -> Finding | None:
    seconds = late.imbalance_s
    collects = _pauses_in_turn_s(observation.garbage_by_rank) >= DOMINANT_PART * seconds > 0
    why = (
        "Python's garbage collector stops one rank after the other, and the rest wait each time"
        if collects
        else "The ranks' work differs from step to step, and each waits for the slowest"
    )
    rest = "if all collected in the same steps" if collects else "with equal work"
    return timed_finding(
        observation,
        Kind.STRAGGLERS,
        seconds,
        cause="gc-pauses" if collects else "uneven-work",
        summary=f"{why}: {ms(seconds)} of every step ({percent(seconds / observation.step_s)}) would go {rest}.",
        evidence=(
            *(
                Fact(name=f"share of steps in which rank {rank} was last", value=share)
                for rank, share in late.last_share.items()
            ),
            *(
                Fact(name=f"garbage collection of rank {rank}", value=pause_s * 1e3, unit="ms")
                for rank, pause_s in observation.garbage_by_rank.items()
            ),
        ),
    )


def _pauses_in_turn_s(by_rank: Mapping[int, float]) -> float:
    """What pauses cost above their mean if no two ranks pause in one step: then a step pays for those of all ranks."""
    return sum(by_rank.values()) * (1 - 1 / len(by_rank)) if by_rank else 0.0
