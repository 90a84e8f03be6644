"""Prints trials: the verdict first, then the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...advisor.trial.autopilot import Attempt, Flight
from ...advisor.trial.calibration import Calibration
from ...advisor.trial.measure import Measurement
from ...advisor.trial.result import FlightFile
from ...advisor.trial.session import Outcome
from ...advisor.trial.statistics import LEVEL
from ...advisor.trial.verdict import Verdict
from ...profiler.agent.knobs import Knob
from ...profiler.report import Trial
from ..views.trials import calibration_sentence, ceiling_note
from ..views.visible import visible
from .console import console

_STYLES = {Verdict.BETTER: "bold green", Verdict.WORSE: "bold red", Verdict.NO_EVIDENCE: "bold yellow"}


def print_outcome(outcome: Outcome) -> None:
    """Print one trial on stdout."""
    console().print(Padding(Group(*_outcome(outcome)), (1, 0)))


def print_flight(flight: Flight, result: FlightFile) -> None:
    """Print what the autopilot did on stdout."""
    shown = console()
    shown.print(Padding(Group(*_flight(flight, result)), (1, 0, 0, 0)))
    if result.patch:
        shown.print(Text("\nThe same written into the script" + _checked(result), style="bold"))
        shown.out(visible(result.patch), highlight=False)
    for note in result.patch_notes:
        shown.print(f"not in the diff: {note}")


def print_knobs(knobs: Sequence[Knob], setup: Mapping[str, Any]) -> None:
    """Print all knobs on stdout."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("knob", "equivalence", "what it changes", "does not apply to this run"):
        table.add_column(heading, overflow="fold")
    for knob in knobs:
        table.add_row(
            f"{knob.NAME}={knob.EXAMPLE}",
            knob.EQUIVALENCE,
            knob.SUMMARY,
            Text(knob.applies(setup) or "", "dim"),
        )
    console().print(table)


def print_calibration(found: Calibration) -> None:
    """Print predicted beside measured on stdout."""
    shown = console()
    shown.print(calibration_sentence(found), style="bold")
    if not found.predictions:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("run", "change", "predicted", "measured"):
        table.add_column(heading, overflow="fold")
    for row in found.predictions:
        table.add_row(
            row.run,
            row.knobs,
            f"{row.predicted:.2f}× ({row.predicted_low:.2f}–{row.predicted_high:.2f})",
            f"{row.measured:.2f}× ({row.measured_low:.2f}–{row.measured_high:.2f})",
        )
    shown.print(table)


def sentence(trial: Trial, measurement: Measurement) -> str:
    """The verdict on a trial in one sentence."""
    knobs = " ".join(f"{name}={text}" for name, text in trial.knobs.items())
    speedup = measurement.speedup
    if speedup is None:
        return f"{knobs}: {measurement.verdict}: {measurement.reason}"
    per = " per sample" if measurement.per_sample else ""
    numbers = f"{speedup.median:.2f}×{per} ({LEVEL:.0%} interval {speedup.low:.2f} to {speedup.high:.2f})"
    words = {
        Verdict.BETTER: f"faster, {numbers}",
        Verdict.WORSE: f"slower, {numbers}",
    }.get(measurement.verdict, f"no evidence of a difference, {numbers}")
    return f"{knobs}: {words}"


def _outcome(outcome: Outcome) -> list[RenderableType]:
    trial, measurement = outcome.trial, outcome.measurement
    parts: list[RenderableType] = [
        Text(sentence(trial, measurement), style=_STYLES.get(measurement.verdict, "bold"))
    ]
    if measurement.speedup is not None:
        parts.append(Text(f"losses {trial.loss_check}"))
        parts += [Text(note) for note in (measurement.reason, ceiling_note(trial.knobs)) if note]
        parts += [Text(), _pair_table(measurement)]
    if trial.predicted_speedup is not None:
        predicted = trial.predicted_speedup
        parts.append(
            Text(f"predicted {predicted.mid:.2f}× ({predicted.low:.2f} to {predicted.high:.2f})", style="dim")
        )
    return parts


def _pair_table(measurement: Measurement) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("pair", "unchanged", "changed", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for number, pair in enumerate(measurement.pairs):
        table.add_row(
            str(number + 1),
            _ms(pair.base.step_s),
            _ms(pair.changed.step_s),
            f"{pair.ratio(per_sample=measurement.per_sample):.2f}×",
            Text("stalled, left out" if number in measurement.stalled else "", style="dim"),
        )
    return table


def _flight(flight: Flight, result: FlightFile) -> list[RenderableType]:
    parts: list[RenderableType] = [
        Text(result.summary, style="bold"),
        Text(),
        _attempt_table(flight.attempts),
    ]
    if flight.kept:
        parts += [Text(), Text("Use it at once", style="bold"), Text(result.command)]
    parts += [Text(f"it stopped because {flight.ended}", style="dim")]
    return parts


def _attempt_table(attempts: Sequence[Attempt]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("tried", "predicted", "measured", "kept", "why"):
        table.add_column(heading, overflow="fold")
    for attempt in attempts:
        predicted, speedup = attempt.prescription.predicted_speedup, attempt.outcome.measurement.speedup
        table.add_row(
            attempt.prescription.knob,
            "" if predicted is None else f"{predicted.mid:.2f}×",
            str(attempt.outcome.measurement.verdict)
            if speedup is None
            else f"{speedup.median:.2f}× ({speedup.low:.2f}–{speedup.high:.2f})",
            "yes" if attempt.kept else "no",
            attempt.why,
        )
    return table


def _checked(result: FlightFile) -> str:
    return f" ({result.patch_check})" if result.patch_check else ""


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.2f} ms"
