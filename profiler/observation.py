"""What the diagnosis rules look at: one rank's timed steps, laid out, with the run's setup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .report import HostLine, LoaderReport, StepTime
from .timeline.lateness import Lateness
from .vocabulary import Stage


@dataclass(frozen=True)
class Observation:
    """The facts of one recorded run.

    Attributes:
        setup: dotted setup facts; absent means unknown.
        step_time: of the timed steps.
        stages: exclusive seconds per step; absent stages took no time.
        loader: how the training loader makes its batches; None where there is no ``DataLoader`` or it made none.
        lateness: the ranks compared; None for a single rank.
        exchanges_per_step: backwards per step that average gradients over ranks; None without data parallelism.
        collectives_per_step: collectives per step that the script calls itself.
        core_wait_share: share of wall time that the training thread waited for a free core; None if not known.
        lines: where the training thread was seen, longest first.
    """

    setup: Mapping[str, Any]
    step_time: StepTime
    stages: Mapping[Stage, float]
    lines: tuple[HostLine, ...] = field(default=())
    loader: LoaderReport | None = None
    lateness: Lateness | None = None
    exchanges_per_step: float | None = None
    collectives_per_step: float = 0.0
    core_wait_share: float | None = None

    @property
    def step_s(self) -> float:
        """Mean wall time of a timed step: what the stages sum to."""
        return sum(self.stages.values())

    def seconds(self, *stages: Stage) -> float:
        """Seconds per step of these stages together."""
        return sum(self.stages.get(stage, 0.0) for stage in stages)

    def share(self, *stages: Stage) -> float:
        """Share of the step of these stages together, 0 to 1."""
        return self.seconds(*stages) / self.step_s if self.step_s > 0 else 0.0

    def lines_of(self, stage: Stage, *, at_most: int = 3) -> tuple[HostLine, ...]:
        """The lines of the user's own code that a stage spends most time in."""
        return tuple(line for line in self.lines if line.stage is stage and line.user_code)[:at_most]
