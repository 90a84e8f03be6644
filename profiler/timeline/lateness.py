"""Who the ranks wait for: each rank's own time, which the collectives hide in equal wall times.

A collective ends on all ranks at about the same moment, so a step takes equally long on each. A rank's *own* time is
its step less what it waited in collectives; the rank with the most own time is the one the others waited for. No clock
of one rank is ever compared with another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..vocabulary import Stage
from .stages import STAGES, StageTimes
from .steps import Steps

_COMMUNICATION = STAGES.index(Stage.COMMUNICATION)


@dataclass(frozen=True, eq=False)
class Lateness:
    """Own times over the steps that all ranks timed.

    Attributes:
        ranks: the ranks' numbers, shape (r,).
        own_s: own seconds, shape (r, steps).
        wait_s: seconds in collectives, shape (r, steps).
        stages_s: mean seconds of each stage, shape (r, stages).
    """

    ranks: tuple[int, ...]
    own_s: NDArray[np.float64]
    wait_s: NDArray[np.float64]
    stages_s: NDArray[np.float64]

    @property
    def last_share(self) -> dict[int, float]:
        """In which share of the steps each rank was the last to arrive."""
        last = self.own_s.argmax(axis=0)
        return {rank: float(np.mean(last == row)) for row, rank in enumerate(self.ranks)}

    @property
    def wire_s(self) -> float:
        """Seconds per step in collectives that no rank's lateness explains: the least wait of any rank."""
        return float(self.wait_s.min(axis=0).mean())

    @property
    def imbalance_s(self) -> float:
        """Seconds per step that equal work on all ranks would save: the last rank's own time above the mean."""
        return float((self.own_s.max(axis=0) - self.own_s.mean(axis=0)).mean())

    def excess_s(self, rank: int) -> float:
        """Seconds per step that a rank keeps the others waiting: its own time above the next latest."""
        row = self.ranks.index(rank)
        others = np.delete(self.own_s, row, axis=0).max(axis=0)
        return float(np.clip(self.own_s[row] - others, 0, None).mean())

    def excess_by_stage(self, rank: int) -> Mapping[Stage, float]:
        """By how many seconds each stage of a rank is longer than the median of the other ranks."""
        row = self.ranks.index(rank)
        others = np.median(np.delete(self.stages_s, row, axis=0), axis=0)
        excess = self.stages_s[row] - others
        return {stage: float(excess[n]) for n, stage in enumerate(STAGES) if n != _COMMUNICATION}


def lateness(
    ranks: Sequence[tuple[int, Steps, StageTimes]], core_wait_shares: Sequence[float | None] = ()
) -> Lateness | None:
    """Compare ranks step by step; None for a single rank or one without timed steps.

    ``core_wait_shares``: for each rank the share of wall time that it waited for a free core, where that is known. That
    is the machine's doing, not the rank's, and is taken off its own time, evenly over the steps.
    """
    if len(ranks) < 2:
        return None
    n = min(int(steps.timed.sum()) for _, steps, _ in ranks)
    if n == 0:
        return None
    seconds = np.stack([stages.seconds[steps.timed][:n] for _, steps, stages in ranks])
    wait = seconds[:, :, _COMMUNICATION]
    shares = np.array([share or 0.0 for share in core_wait_shares] or [0.0] * len(ranks))
    own = seconds.sum(axis=2) - wait
    starved = seconds.sum(axis=2).mean(axis=1) * shares
    return Lateness(
        ranks=tuple(rank for rank, _, _ in ranks),
        own_s=np.maximum(own - starved[:, None], 0.0),
        wait_s=wait,
        stages_s=seconds.mean(axis=1),
    )
