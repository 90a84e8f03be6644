"""Tries changes for the terminal: what is going on to stderr, the result to stdout, exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..advisor.trial.arm import Arm
from ..advisor.trial.autopilot import Attempt, Flight, fly
from ..advisor.trial.calibration import calibration
from ..advisor.trial.candidates import propose
from ..advisor.trial.knob_choice import choose, find_knob, knob_names
from ..advisor.trial.measure import Plan
from ..advisor.trial.result import flight_file
from ..advisor.trial.session import Length, Outcome, TrialSession, require_knobs
from ..advisor.trial.store import TRIALS_FOLDER, TrialFolder
from ..advisor.trial.verdict import Verdict
from ..profiler.agent.knobs import Knob
from ..profiler.errors import InputError, UsageError
from ..profiler.store import RunFolder, find_run
from .stored import current_report
from .terminal.trial import print_calibration, print_flight, print_knobs, print_outcome

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NO_EVIDENCE = 4
#: What a shell makes of a command that Ctrl-C ended.
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    run: str
    runs_dir: Path
    changes: tuple[str, ...]
    pairs: int
    most_pairs: int
    steps: int | None
    warmup: int
    budget_s: float
    allow_semantic: bool
    as_json: bool


def run_and_changes(words: Sequence[str], runs_dir: Path) -> tuple[str, Sequence[str]]:
    """The run that is meant and the changes to try; the first word is the run, unless it is a change already.

    A run may have ``=`` in its name or path, as folders named by their settings do.
    """
    if not words or _is_change(words[0], runs_dir):
        return "last", words
    return words[0], words[1:]


def _is_change(word: str, runs_dir: Path) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and (name in knob_names() or not _is_run(word, runs_dir))


def _is_run(word: str, runs_dir: Path) -> bool:
    try:
        find_run(word, runs_dir)
    except InputError:
        return False
    return True


def try_knobs(request: Request) -> int:
    """Measure the changes of the request, all together; returns the exit code."""
    require_knobs(request.changes)
    change = choose(request.changes)
    session = _session(request)
    outcome = session.try_(change)
    if request.as_json:
        stored = TrialFolder(session.run.path / TRIALS_FOLDER / outcome.trial.id).read()
        assert stored is not None
        sys.stdout.write(stored.model_dump_json(indent=1) + "\n")
    else:
        print_outcome(outcome)
    return exit_code(outcome)


def try_auto(request: Request) -> int:
    """Fly the autopilot; returns the exit code.

    Raises:
        UsageError: the request names changes, which the autopilot would leave out.
    """
    if request.changes:
        raise UsageError("--auto chooses the changes itself: leave KNOB=VALUE out")
    session = _session(request)
    flight = fly(
        session,
        propose,
        budget_s=request.budget_s,
        allow_semantic=request.allow_semantic,
        on_attempt=_tell_attempt,
    )
    result = flight_file(session, flight)
    if request.as_json:
        sys.stdout.write(result.model_dump_json(indent=1) + "\n")
    else:
        print_flight(flight, result)
    return _exit_code_of_flight(flight)


def list_knobs(request: Request) -> int:
    """Print all knobs; those that do not apply to the run with the reason."""
    run = _run_if_any(request)
    setup = {} if run is None else current_report(run).setup
    knobs = [find_knob(name) for name in knob_names()]
    if request.as_json:
        sys.stdout.write(json.dumps([_knob_row(knob, setup) for knob in knobs], indent=1) + "\n")
    else:
        print_knobs(knobs, setup)
    return 0


def _knob_row(knob: Knob, setup: Mapping[str, Any]) -> dict[str, str | None]:
    return {
        "name": knob.NAME,
        "example": knob.EXAMPLE,
        "equivalence": knob.EQUIVALENCE,
        "summary": knob.SUMMARY,
        "reason": knob.applies(setup),
    }


def show_calibration(request: Request) -> int:
    """Print predicted beside measured, over all runs; 4 where no trial had a prediction."""
    found = calibration(request.runs_dir)
    if request.as_json:
        sys.stdout.write(json.dumps(asdict(found), indent=1) + "\n")
    else:
        print_calibration(found)
    return 0 if found.predictions else EXIT_NO_EVIDENCE


def exit_code(outcome: Outcome) -> int:
    """0 if the measurement answers, else what stood in the way."""
    measurement = outcome.measurement
    if measurement.verdict is Verdict.INTERRUPTED:
        return EXIT_INTERRUPTED
    if measurement.verdict is Verdict.FAILED:
        return EXIT_FAILED
    if measurement.verdict is Verdict.REFUSED:
        return EXIT_USAGE
    open_ = measurement.verdict is Verdict.NO_EVIDENCE and measurement.reason != ""
    return EXIT_NO_EVIDENCE if open_ or measurement.verdict is Verdict.NOT_APPLIED else 0


def _exit_code_of_flight(flight: Flight) -> int:
    if flight.interrupted:
        return EXIT_INTERRUPTED
    measured = [attempt.outcome for attempt in flight.attempts]
    if measured and all(exit_code(outcome) == EXIT_FAILED for outcome in measured):
        return EXIT_FAILED
    return 0


def _session(request: Request) -> TrialSession:
    run = find_run(request.run, request.runs_dir)
    return TrialSession(
        run,
        current_report(run),
        length=Length(steps=request.steps, warmup=request.warmup),
        plan=Plan(pairs=request.pairs, most_pairs=request.most_pairs, budget_s=request.budget_s),
        allow_semantic=request.allow_semantic,
        on_arm=_tell_arm,
    )


def _run_if_any(request: Request) -> RunFolder | None:
    if request.run == "last" and not request.runs_dir.is_dir():
        return None
    return find_run(request.run, request.runs_dir)


def _tell_arm(side: str, arm: Arm) -> None:
    what = f"{arm.step_s * 1e3:.2f} ms per step" if arm.step_s is not None else arm.failure
    side = "unchanged" if side == "base" else "changed"
    sys.stderr.write(f"trainrx: {side:9} {what}   ({arm.seconds:.1f} s)\n")


def _tell_attempt(attempt: Attempt) -> None:
    state = "kept" if attempt.kept else f"not kept: {attempt.why}"
    sys.stderr.write(f"trainrx: {attempt.prescription.knob}: {state}\n")
