"""How good the predictions were: predicted beside measured, over all trials that have both.

This is the product's own record; it lives in the run folders, and nothing of it is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...profiler.report import Trial
from .store import trials_of_all_runs


@dataclass(frozen=True)
class ScoredPrediction:
    """One prediction and what was measured for it; speed-ups, above 1 is faster."""

    run: str
    trial: str
    knobs: str
    method: str | None
    predicted_low: float
    predicted: float
    predicted_high: float
    measured_low: float
    measured: float
    measured_high: float

    @property
    def overlaps(self) -> bool:
        """Whether the predicted range and the measured interval have values in common."""
        return self.predicted_low <= self.measured_high and self.measured_low <= self.predicted_high

    @property
    def error_ratio(self) -> float:
        """Measured over predicted: above 1 the prediction was too modest."""
        return self.measured / self.predicted


@dataclass(frozen=True)
class Calibration:
    """All scored predictions with their summary; the shares are None without any.

    Attributes:
        overlapping_share: predictions whose range meets the measured interval.
        median_error_ratio: median of measured over predicted.
    """

    predictions: tuple[ScoredPrediction, ...]
    overlapping_share: float | None
    median_error_ratio: float | None


def calibration(runs_dir: Path) -> Calibration:
    """Score the predictions of all runs in a folder; runs that cannot be read are left out."""
    return summarise(scored_predictions(trials_of_all_runs(runs_dir)))


def summarise(scored: Iterable[ScoredPrediction]) -> Calibration:
    """The summary of scored predictions."""
    predictions = tuple(scored)
    if not predictions:
        return Calibration((), None, None)
    return Calibration(
        predictions,
        overlapping_share=sum(found.overlaps for found in predictions) / len(predictions),
        median_error_ratio=float(np.median([found.error_ratio for found in predictions])),
    )


def scored_predictions(trials: Iterable[tuple[str, Trial]]) -> list[ScoredPrediction]:
    """The trials that have a prediction and a measurement; each comes with the name of its run."""
    return [
        ScoredPrediction(
            run=run,
            trial=trial.id,
            knobs=" ".join(f"{name}={text}" for name, text in trial.knobs.items()),
            method=trial.method,
            predicted_low=trial.predicted_speedup.low,
            predicted=trial.predicted_speedup.mid,
            predicted_high=trial.predicted_speedup.high,
            measured_low=trial.speedup.low,
            measured=trial.speedup.median,
            measured_high=trial.speedup.high,
        )
        for run, trial in trials
        if trial.predicted_speedup is not None and trial.speedup is not None
    ]
