"""What outputs show of a run's trials: rows, and the calibration of predictions. No drawing, no printing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...advisor.trial.calibration import Calibration
from ...profiler.agent.knobs import find, is_ceiling
from ...profiler.report import Prediction, Speedup, Trial

NOT_PREDICTED = "not predicted"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class TrialRow:
    """One trial as a row; texts are ready to be shown."""

    id: str
    change: str
    on_top_of: str
    verdict: str
    measured: str
    predicted: str
    losses: str
    pairs: str
    reason: str


def trial_table(trials: Iterable[Trial]) -> list[dict[str, str]]:
    """The trials as a table, newest first; what they stood on is told only where any stood on something."""
    rows = trial_rows(trials)
    stacked = any(row.on_top_of for row in rows)
    return [
        {
            "trial": row.id,
            "change": row.change,
            **({"on top of": row.on_top_of} if stacked else {}),
            "verdict": row.verdict,
            "measured": row.measured,
            "predicted": row.predicted,
            "pairs": row.pairs,
            "losses": row.losses,
            "why": row.reason,
        }
        for row in reversed(rows)
    ]


def trial_rows(trials: Iterable[Trial]) -> list[TrialRow]:
    """The trials of a run, in the order they were measured."""
    return [
        TrialRow(
            id=trial.id,
            change=_words(trial.knobs),
            on_top_of=_words(trial.kept),
            verdict=trial.verdict,
            measured=_measured(trial.speedup, per_sample=trial.per_sample),
            predicted=_predicted(trial.predicted_speedup),
            losses=trial.loss_check,
            pairs=f"{trial.pairs}, {trial.stalled} of them stalled" if trial.stalled else str(trial.pairs),
            reason="; ".join(filter(None, (trial.reason, ceiling_note(trial.knobs)))),
        )
        for trial in trials
    ]


def ceiling_note(knobs: Iterable[str]) -> str:
    """What is said of changes that only measure what one could bring; empty for others."""
    if not any(_is_ceiling(name) for name in knobs):
        return ""
    return "this is no change to keep: it measures what any such change can bring at most"


def _is_ceiling(name: str) -> bool:
    """Of a stored trial, whose knob there may be no longer."""
    try:
        return is_ceiling(find(name))
    except KeyError:
        return False


def calibration_sentence(found: Calibration) -> str:
    """What the calibration says, in one sentence."""
    if found.overlapping_share is None or found.median_error_ratio is None:
        return "No trial has both a prediction and a measurement yet: `trainrx try RUN --auto` makes some."
    return (
        f"Predictions scored: {len(found.predictions)}; {found.overlapping_share:.0%} met the measured interval; "
        f"measured over predicted is {found.median_error_ratio:.2f} in the median."
    )


def _words(knobs: dict[str, str]) -> str:
    return " ".join(f"{name}={text}" for name, text in knobs.items())


def _measured(speedup: Speedup | None, *, per_sample: bool) -> str:
    if speedup is None:
        return NOT_MEASURED
    per = " per sample" if per_sample else ""
    return f"{speedup.median:.2f}×{per} ({speedup.low:.2f} to {speedup.high:.2f})"


def _predicted(prediction: Prediction | None) -> str:
    if prediction is None:
        return NOT_PREDICTED
    return f"{prediction.mid:.2f}× ({prediction.low:.2f} to {prediction.high:.2f})"
