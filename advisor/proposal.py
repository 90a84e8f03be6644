"""What a remedy proposes for one finding, before it is checked against the catalog and ranked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from ..profiler.report import Finding, Prediction, Report
from ..profiler.vocabulary import Stage
from .predict.estimate import Relief, StepEstimate, speedup
from .predict.relief import relief_of

#: What remains at least of a time that a change removes. Ours.
LEAST_REMAINS = 0.005
#: From this ratio on, two bounds differ enough to say why.
WORTH_SAYING = 1.01


class Effort(IntEnum):
    """What it takes to try; the number weighs in the ranking."""

    SWITCH = 1
    LINES = 2
    REWORK = 4

    @property
    def label(self) -> str:
        """In words."""
        return {1: "one switch", 2: "a few lines", 4: "a rework"}[int(self)]


class Fit(IntEnum):
    """How well a proposal fits a finding; a gain counts less in the ranking the looser the fit is."""

    CAUSE = 0
    KIND = 1
    LISTED = 2

    @property
    def weight(self) -> float:
        """The factor of the predicted gain in the ranking. Ours."""
        return {0: 1.0, 1: 0.5, 2: 0.25}[int(self)]


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
        fit: whether it answers the cause that was found, helps this kind, or is only listed for it.
        relieves: whether the rest of a step gets shorter with it, where both share the cores; workers keep them busy.
        removes_s: seconds of a step that it can remove at most, relief of the rest among them, where that is more than
            the finding exposes.
    """

    method: str
    how: str
    basis: str
    effort: Effort
    estimate: StepEstimate | None = None
    knob: str | None = None
    fit: Fit = Fit.KIND
    relieves: bool = True
    removes_s: float | None = None


@dataclass(frozen=True)
class Declined:
    """A method that textbooks name for a finding and that has no use in this run, and why."""

    method: str
    reason: str


@dataclass(frozen=True)
class Case:
    """A finding in its run."""

    report: Report
    finding: Finding

    @property
    def step_s(self) -> float:
        """Mean seconds of a step, which the stages sum to; of the window where a trace marks no steps; 0 if unknown."""
        if self.report.step_time is not None:
            return self.report.step_time.mean_s
        return (self.finding.ms_per_step or 0.0) / 1e3 / self.finding.share if self.finding.share > 0 else 0.0

    @property
    def exposed_s(self) -> float:
        """Seconds of the step that the finding exposes: the most that can go."""
        return min((self.finding.ms_per_step or 0.0) / 1e3, self.step_s)

    def prediction(self, proposal: Proposal) -> Prediction | None:
        """The speed-up that a proposal promises this step; None without an estimate or a step time."""
        if proposal.estimate is None or self.step_s <= 0:
            return None
        if proposal.removes_s is not None:
            most_s = max(self.exposed_s, min(proposal.removes_s, self.step_s))
            return speedup(self.step_s, proposal.estimate, exposed_s=most_s)
        relief = relief_of(self.report, self.finding.kind, step_s=self.step_s, exposed_s=self.exposed_s)
        if not proposal.relieves:
            relief = Relief(0.0, relief.best_s)
        return speedup(self.step_s, proposal.estimate, exposed_s=self.exposed_s, relief=relief)

    def basis(self, proposal: Proposal) -> str:
        """What the prediction rests on, and that it counts on more than the time of the finding, where it does."""
        found = self.prediction(proposal)
        if found is None or proposal.estimate is None:
            return proposal.basis
        alone = speedup(self.step_s, proposal.estimate, exposed_s=self.exposed_s).bound
        if found.bound < alone * WORTH_SAYING:
            return proposal.basis
        return (
            f"{proposal.basis}; the rest of a step is counted on to get shorter too: without that, {alone:.2f}× is the "
            "bound"
        )

    @property
    def cause(self) -> str | None:
        """The finer reason under the finding's kind."""
        return self.finding.cause

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU is known to compute."""
        return self.setup("device.kind") in ("cuda", "rocm")

    @property
    def line(self) -> str | None:
        """The first line of source that the finding points at, as ``train.py:41``; None where it names none."""
        place = next((where for where in self.finding.where if where.file is not None), None)
        return None if place is None else f"{place.file}:{place.line}"

    def setup(self, name: str) -> object:
        """A setup fact; None for unknown."""
        return self.report.setup.get(name)

    def has(self, part: str) -> bool:
        """Whether the model is known to contain a part, in the catalog's words (``attention``, ``conv``, …)."""
        parts = self.setup("model.has")
        return isinstance(parts, list | tuple | set | frozenset) and part in parts

    def number(self, name: str) -> float | None:
        """A setup fact that is a number; None for unknown."""
        value = self.report.setup.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def evidence(self, name: str) -> object:
        """What the finding itself says under this name; None if it does not."""
        return next((fact.value for fact in self.finding.evidence if fact.name == name), None)

    def stage_s(self, stage: Stage) -> float:
        """Seconds per step of a stage."""
        return next((share.seconds_per_step for share in self.report.stages if share.name is stage), 0.0)

    def kernel_share(self, *classes: str) -> float | None:
        """Share of all kernel time in these classes of kernels; None where no kernels were traced."""
        known = self.report.kernel_classes
        return sum(one.share for one in known if one.name in classes) if known else None

    def remaining(self, best: float, likely: float, worst: float) -> StepEstimate:
        """The step if these shares of the exposed time remain: at best, likely, at worst.

        Something of it always remains, so that no run that only waits is promised a step of no time.
        """
        rest = self.step_s - self.exposed_s
        shares = (max(share, LEAST_REMAINS) for share in (best, likely, worst))
        return StepEstimate(*(rest + share * self.exposed_s for share in shares))

    def what_if(self, change: str, *, likely: float = 0.75, worst: float = 0.0) -> StepEstimate | None:
        """What replaying the trace predicts for a change; None where it was not replayed.

        ``change`` is written as ``launch_cost_removed``. The replay takes a cost away as a whole: ``likely`` and
        ``worst`` are the parts of what it saves that a method is expected to save.
        """
        for one in self.report.what_ifs:
            if _slug(one.change) == change and one.measured_step_s > 0:
                at_best = max(one.predicted_step_s, one.bound_step_s) / one.measured_step_s
                saved = max(1 - at_best, 0.0) * self.step_s
                return StepEstimate(*(self.step_s - part * saved for part in (1.0, likely, worst)))
        return None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
