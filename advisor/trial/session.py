"""Trials of one stored run: finds its command, checks what is asked, measures, and keeps the result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...profiler.errors import InputError, UsageError
from ...profiler.launch import Limits
from ...profiler.report import Prescription, Report, Trial
from ...profiler.store import RunFolder
from ...profiler.vocabulary import RunStatus
from .arm import Arm, Script
from .knob_choice import NOTHING, Choice, reasons_against
from .measure import NOT_COMPARED, Measurement, Plan, measure
from .store import begin_trial, end_trial, write_trials
from .verdict import Verdict

WARMUP_STEPS = 5
LEAST_STEPS, MOST_STEPS = 30, 2000
#: A run takes seconds to start. Timing it for as long costs little, and a few hundred short steps wander far less from
#: run to run than thirty: on two noisy cores steps of 4 ms by 5 % rather than 15 %.
TIMED_S = 3.0
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Length:
    """How long each run of a trial is, in steps.

    Attributes:
        steps: that are timed; None times steps for about `TIMED_S`. A script that ends sooner is timed to its end.
        warmup: before them.
    """

    steps: int | None = None
    warmup: int = WARMUP_STEPS

    def timed_steps(self, step_s: float | None) -> int:
        """How many steps to time where one takes so many seconds; None: it is not known."""
        if self.steps is not None:
            return self.steps
        return max(LEAST_STEPS, min(math.ceil(TIMED_S / step_s), MOST_STEPS)) if step_s else LEAST_STEPS


@dataclass(frozen=True)
class Outcome:
    """A trial that is over: its row, and what was measured."""

    trial: Trial
    measurement: Measurement


OnArm = Callable[[str, Arm], None]


def script_of(run: RunFolder, report: Report, length: Length) -> Script:
    """The command of a stored run, to be run again for so many of its steps.

    Raises:
        InputError: the run was imported, or its command cannot be run here.
    """
    manifest = run.manifest
    if not manifest.command or manifest.status in (RunStatus.IMPORTED, RunStatus.ATTACHED):
        raise InputError(
            f"{run.path.name} has no command to run again: only runs that trainrx recorded can be tried"
        )
    cwd = Path(manifest.cwd)
    if not cwd.is_dir():
        raise InputError(
            f"{run.path.name} was recorded in {cwd}, which is not there: run the trial where it is"
        )
    step_s = None if report.step_time is None else report.step_time.mean_s
    limits = Limits(
        steps=length.timed_steps(step_s),
        warmup=length.warmup,
        traced_steps=0,
        seconds=None,
        patience_s=PATIENCE_S,
    )
    return Script(tuple(manifest.command), cwd, limits)


class TrialSession:
    """Measures changes of one run, one after the other."""

    def __init__(
        self,
        run: RunFolder,
        report: Report,
        *,
        length: Length,
        plan: Plan,
        allow_semantic: bool = False,
        on_arm: OnArm = lambda side, arm: None,
    ) -> None:
        self.run = run
        self.report = report
        self.script = script_of(run, report, length)
        self.plan = plan
        self._allow_semantic = allow_semantic
        self._on_arm = on_arm

    def try_(
        self, change: Choice, *, kept: Choice = NOTHING, prescription: Prescription | None = None
    ) -> Outcome:
        """Measure a change and keep the result; one that cannot be meant is stored as refused or not applied."""
        prescription = prescription or self._prescription_of(change)
        folder = begin_trial(self.run, change, kept, self.script, prescription)
        started = time.monotonic()
        measurement = self._refuse(change, kept) or measure(
            self.script, change, kept=kept, runs_dir=folder.arms, plan=self.plan, on_arm=self._on_arm
        )
        trial = end_trial(folder, measurement, seconds=time.monotonic() - started)
        self.report = write_trials(self.run, self.report)
        return Outcome(trial, measurement)

    def _prescription_of(self, change: Choice) -> Prescription | None:
        """What the report predicts for exactly this change."""
        return next((found for found in self.report.prescriptions if found.knob == str(change)), None)

    def _refuse(self, change: Choice, kept: Choice) -> Measurement | None:
        against = reasons_against(change, {**self.report.setup, **kept.values})
        if against:
            return _not_measured(Verdict.NOT_APPLIED, "; ".join(against))
        if change.equivalence == "semantic" and not (self._allow_semantic or change.is_ceiling):
            return _not_measured(
                Verdict.REFUSED,
                f"{change} alters what the model learns, so a shorter step proves nothing: compare quality against "
                "cost with `trainrx compare --curves` on full trainings, or measure the step alone with "
                "--allow-semantic",
            )
        return None


def require_knobs(words: Sequence[str]) -> None:
    """Refuse a call without any change.

    Raises:
        UsageError: there is none.
    """
    if not words:
        raise UsageError(
            "nothing to try: give KNOB=VALUE, as in `trainrx try RUN loader.num_workers=2`, or --auto"
        )


def _not_measured(outcome: Verdict, reason: str) -> Measurement:
    return Measurement(outcome, None, NOT_COMPARED, reason=reason)
