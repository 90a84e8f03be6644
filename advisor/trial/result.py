"""What the autopilot hands over: a table, a command that can be used at once, an environment, and a diff."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from ...profiler.launch import environment_with_knobs
from ...profiler.report import Trial
from .autopilot import Flight
from .knob_choice import Choice
from .patch_check import checked_patch
from .session import TrialSession

FLIGHT_FILE = "autopilot.json"
PATCH_FILE = "autopilot.diff"
_VARIABLES = ("PYTHONPATH", "TRAINRX_AGENT")


class AttemptRow(BaseModel):
    """One prescription that was tried."""

    knob: str
    kept: bool
    why: str
    trial: Trial


class FlightFile(BaseModel):
    """The autopilot's result, as it is kept in the run's folder and printed with ``--json``.

    ``environment`` lets the unchanged command run with the changes; ``patch`` is a unified diff, empty where nothing
    could be written; ``patch_notes`` says what it leaves out.
    """

    summary: str
    ended: str
    attempts: list[AttemptRow]
    kept: dict[str, str]
    combined: Trial | None
    command: str = ""
    environment: dict[str, str] = {}
    patch: str = ""
    patch_check: str = ""
    patch_notes: list[str] = []


def flight_file(session: TrialSession, flight: Flight) -> FlightFile:
    """Put the result together, check its patch, and keep both in the run's folder."""
    patch = checked_patch(session, flight) if flight.kept else None
    result = FlightFile(
        summary=summary(flight),
        ended=flight.ended,
        attempts=[
            AttemptRow(
                knob=attempt.prescription.knob or "",
                kept=attempt.kept,
                why=attempt.why,
                trial=attempt.outcome.trial,
            )
            for attempt in flight.attempts
        ],
        kept=dict(flight.kept.texts),
        combined=None if flight.combined is None else flight.combined.trial,
        command=run_command(flight.kept, session.script.command) if flight.kept else "",
        environment=_environment(flight.kept) if flight.kept else {},
        patch="" if patch is None else patch.diff,
        patch_check="" if patch is None else patch.check,
        patch_notes=[] if patch is None else list(patch.notes),
    )
    _keep(session.run.path / "trials", result)
    return result


def summary(flight: Flight) -> str:
    """The outcome in one sentence."""
    tried = f"{len(flight.attempts)} change{'s' if len(flight.attempts) != 1 else ''} tried"
    if not flight.kept:
        return f"Nothing was kept: {tried}, none is proven to pay."
    speedup = None if flight.combined is None else flight.combined.measurement.speedup
    gain = "its combined gain was not measured" if speedup is None else (
        f"together {speedup.median:.2f}× as fast as the original ({speedup.low:.2f} to {speedup.high:.2f})"
    )  # fmt: skip
    return f"Kept {flight.kept}: {gain}; {tried}."


def run_command(choice: Choice, command: Sequence[str]) -> str:
    """A shell line that runs the command with the changes."""
    knobs = [word for name, text in choice.texts.items() for word in ("--knob", f"{name}={text}")]
    return shlex.join(["trainrx", "run", *knobs, "--", *command])


def _environment(choice: Choice) -> dict[str, str]:
    whole = environment_with_knobs(choice.texts)
    return {name: whole[name] for name in _VARIABLES}


def _keep(folder: Path, result: FlightFile) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((FLIGHT_FILE, result.model_dump_json(indent=1)), (PATCH_FILE, result.patch)):
        temporary = folder / (name + ".part")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(folder / name)
