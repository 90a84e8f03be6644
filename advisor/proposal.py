"""What a remedy proposes for one finding, before it is checked against the catalog and ranked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ..profiler.report import Finding, Report
from ..profiler.vocabulary import Stage
from .predict.estimate import StepEstimate


class Effort(IntEnum):
    """What it takes to try; the number weighs in the ranking."""

    SWITCH = 1
    LINES = 2
    REWORK = 4

    @property
    def label(self) -> str:
        """In words."""
        return {1: "one switch", 2: "a few lines", 4: "a rework"}[int(self)]


@dataclass(frozen=True)
class Proposal:
    """A change for a finding.

    Attributes:
        method: id of the catalog's method.
        how: what to write, with this run's settings.
        basis: what the estimate rests on.
        effort: what it takes.
        estimate: the step with the change; None where nothing can be said.
        knob: the switch that tries it from outside, as ``name=value``.
    """

    method: str
    how: str
    basis: str
    effort: Effort
    estimate: StepEstimate | None = None
    knob: str | None = None


@dataclass(frozen=True)
class Case:
    """A finding in its run."""

    report: Report
    finding: Finding

    @property
    def step_s(self) -> float:
        """Mean seconds of a step: what stages sum to."""
        return self.report.step_time.mean_s if self.report.step_time is not None else 0.0

    @property
    def exposed_s(self) -> float:
        """Seconds of the step that the finding exposes: the most that can go."""
        return min(self.finding.ms_per_step / 1e3, self.step_s)

    def setup(self, name: str) -> object:
        """A setup fact; None for unknown."""
        return self.report.setup.get(name)

    def number(self, name: str) -> float | None:
        """A setup fact that is a number; None for unknown."""
        value = self.report.setup.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def stage_s(self, stage: Stage) -> float:
        """Seconds per step of a stage."""
        return next((share.seconds_per_step for share in self.report.stages if share.name is stage), 0.0)
