"""What our own trials measured of a method: evidence from the user's scripts, beside that of the literature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ...catalog import Method
from ...profiler.report import Speedup, Trial
from .knob_choice import find_knob, knob_names
from .store import trials_of_all_runs
from .verdict import Verdict


@dataclass(frozen=True)
class OwnTrial:
    """One trial of a method; the speed-up is measured, above 1 is faster.

    Attributes:
        run: the run that it changed.
        change: as ``knob=value``.
    """

    run: str
    change: str
    speedup: Speedup
    verdict: str
    pairs: int
    losses: str


@dataclass(frozen=True)
class OwnEvidence:
    """All trials of a method in one folder of runs, oldest run first."""

    trials: tuple[OwnTrial, ...]

    @property
    def median_speedup(self) -> float | None:
        """Over the trials; None without any."""
        return median(trial.speedup.median for trial in self.trials) if self.trials else None

    def count(self, verdict: Verdict) -> int:
        """How many trials came out so."""
        return sum(trial.verdict == str(verdict) for trial in self.trials)


def own_evidence(runs_dir: Path, method: Method) -> OwnEvidence:
    """The trials in a folder of runs that changed nothing but what the method changes, and measured a speed-up.

    A missing folder has none; runs that cannot be read are left out.
    """
    return OwnEvidence(
        tuple(
            OwnTrial(
                run=run,
                change=" ".join(f"{name}={text}" for name, text in trial.knobs.items()),
                speedup=trial.speedup,
                verdict=trial.verdict,
                pairs=trial.pairs,
                losses=trial.loss_check,
            )
            for run, trial in trials_of_all_runs(runs_dir)
            if trial.speedup is not None and _tests(trial, method)
        )
    )


def _tests(trial: Trial, method: Method) -> bool:
    if len(trial.knobs) != 1:
        return False
    ((name, value),) = trial.knobs.items()
    return (trial.method == method.id or method.how.knob == name) and _is_put_on(name, value)


def _is_put_on(knob: str, value: str) -> bool:
    """Whether a trial did what its knob is for: a switch the other way round tests the method's absence."""
    if knob not in knob_names():
        return False
    known = find_knob(knob)
    try:
        meant, tried = known.parse(known.EXAMPLE), known.parse(value)
    except ValueError:
        return False
    return not isinstance(meant, bool) or tried == meant
