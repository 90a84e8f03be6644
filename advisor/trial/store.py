"""Keeps trials in the folder of the run they belong to: ``trials/<id>/`` with ``trial.json`` and the recorded arms.

A trial that was killed stays as a folder whose ``trial.json`` says so; the run itself is never changed but for the
``trials`` of its ``report.json``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from ...profiler.errors import TrainrxError
from ...profiler.report import Prediction, Prescription, Report, Speedup, Trial
from ...profiler.same_process import is_same_process
from ...profiler.store import RunFolder, list_runs
from ...profiler.vocabulary import Kind
from .verdict import Verdict

if TYPE_CHECKING:
    from .arm import Script
    from .knob_choice import Choice
    from .measure import Measurement

TRIALS_FOLDER = "trials"
TRIAL_FILE = "trial.json"
MAX_TRIAL_BYTES = 16 * 1024 * 1024
_RUNNING = "running"


class PairRow(BaseModel):
    """One measured pair; seconds are means over the timed steps."""

    base_s: float
    changed_s: float
    ratio: float
    order: str
    stalled: bool
    base_run: str
    changed_run: str


class TrialFile(BaseModel):
    """``trial.json``: the summary that the report shows, and what it rests on."""

    model_config = ConfigDict(extra="ignore")

    summary: Trial
    command: list[str]
    cwd: str | None
    steps: int | None
    warmup: int
    pairs: list[PairRow] = []
    predicted_by: str = ""
    seconds: float = 0.0
    launcher_pid: int | None = None
    launcher_started: float | None = None


class TrialFolder:
    """One trial on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def arms(self) -> Path:
        """Where the runs of both sides are recorded."""
        return self.path / "arms"

    def read(self) -> TrialFile | None:
        """What is stored; None where it is missing or damaged."""
        path = self.path / TRIAL_FILE
        try:
            if path.stat().st_size > MAX_TRIAL_BYTES:
                return None
            stored = TrialFile.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None
        if stored.summary.verdict == _RUNNING and not is_same_process(
            stored.launcher_pid, stored.launcher_started
        ):
            summary = stored.summary.model_copy(update={"verdict": str(Verdict.INTERRUPTED)})
            return stored.model_copy(update={"summary": summary})
        return stored

    def write(self, trial: TrialFile) -> None:
        """Replace ``trial.json`` in one piece."""
        temporary = self.path / (TRIAL_FILE + ".part")
        temporary.write_text(trial.model_dump_json(indent=1), encoding="utf-8")
        temporary.replace(self.path / TRIAL_FILE)


def begin_trial(
    run: RunFolder, change: Choice, kept: Choice, script: Script, prescription: Prescription | None
) -> TrialFolder:
    """Make the folder of a new trial, and say in it what is going to be measured."""
    folder = _new_folder(run.path / TRIALS_FOLDER)
    summary = Trial(
        id=folder.path.name,
        knobs=dict(change.texts),
        kept=dict(kept.texts),
        predicted_speedup=_prediction(prescription),
        speedup=None,
        pairs=0,
        verdict=_RUNNING,
        loss_check="",
        method=None if prescription is None else prescription.method,
        finding=_finding(prescription),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )
    folder.write(
        TrialFile(
            summary=summary,
            command=list(script.command),
            cwd=None if script.cwd is None else str(script.cwd),
            steps=script.limits.steps,
            warmup=script.limits.warmup,
            predicted_by="" if prescription is None else prescription.basis,
            launcher_pid=os.getpid(),
            launcher_started=psutil.Process().create_time(),
        )
    )
    return folder


def end_trial(folder: TrialFolder, measurement: Measurement, *, seconds: float) -> Trial:
    """Store what was measured; returns the row for the report."""
    begun = folder.read()
    assert begun is not None
    summary = begun.summary.model_copy(update=_measured(measurement))
    rows = _rows(measurement)
    folder.write(begun.model_copy(update={"summary": summary, "pairs": rows, "seconds": seconds}))
    return summary


def stored_trials(run: RunFolder) -> list[Trial]:
    """The trials of a run that are over, in the order they were begun."""
    folder = run.path / TRIALS_FOLDER
    paths = sorted(folder.iterdir(), key=_number) if folder.is_dir() else []
    found = [TrialFolder(path).read() for path in paths]
    return [trial.summary for trial in found if trial is not None and trial.summary.verdict != _RUNNING]


def trials_of_all_runs(runs_dir: Path) -> Iterator[tuple[str, Trial]]:
    """Name of the run and trial, over all runs in a folder; runs that cannot be read are left out."""
    for run in list_runs(runs_dir):
        try:
            trials = stored_trials(run)
        except (TrainrxError, OSError):
            continue
        for trial in trials:
            yield run.path.name, trial


def write_trials(run: RunFolder, report: Report) -> Report:
    """Bring the trials of a run into its report."""
    renewed = report.model_copy(update={"trials": stored_trials(run)})
    run.write_report(renewed)
    return renewed


def _measured(measurement: Measurement) -> dict[str, Any]:
    speedup = measurement.speedup
    return {
        "speedup": None
        if speedup is None
        else Speedup(median=speedup.median, low=speedup.low, high=speedup.high),
        "pairs": len(measurement.pairs),
        "verdict": str(measurement.verdict),
        "loss_check": str(measurement.losses),
        "reason": measurement.reason,
        "per_sample": measurement.per_sample,
        "stalled": len(measurement.stalled),
    }


def _rows(measurement: Measurement) -> list[PairRow]:
    return [
        PairRow(
            base_s=pair.base.step_s or 0.0,
            changed_s=pair.changed.step_s or 0.0,
            ratio=pair.ratio(per_sample=measurement.per_sample),
            order=pair.order,
            stalled=number in measurement.stalled,
            base_run=pair.base.run,
            changed_run=pair.changed.run,
        )
        for number, pair in enumerate(measurement.pairs)
        if pair.base.step_s is not None and pair.changed.step_s is not None
    ]


def _prediction(prescription: Prescription | None) -> Prediction | None:
    return None if prescription is None else prescription.predicted_speedup


def _finding(prescription: Prescription | None) -> Kind | None:
    return None if prescription is None else prescription.finding


def _new_folder(trials: Path) -> TrialFolder:
    trials.mkdir(parents=True, exist_ok=True)
    number = max((_number(path) for path in trials.iterdir()), default=0) + 1
    while True:
        path = trials / str(number)
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
            continue
        return TrialFolder(path)


def _number(path: Path) -> int:
    return int(path.name) if path.name.isdigit() else 0
