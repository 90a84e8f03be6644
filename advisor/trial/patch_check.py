"""Checks a diff before it is shown: the changed files compile, the script runs with them, and knobs have nothing to do.

The user's files stay as they are: the changed text is handed to the process from outside. The kept knobs are put on
beside it: one that still finds something to change was not written where it counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .arm import Arm, KnobEvent, Script, run_arm
from .autopilot import Flight
from .knob_choice import Choice
from .patch import Patch, write_patch
from .session import TrialSession

RUNNER = Path(__file__).with_name("patched_script.py")
CHECK_STEPS = 5
#: Knobs that act before the script has its say: beside a script that does the same they would act, or fail.
_ACT_FIRST = frozenset({"threads.interop", "ddp.comm_hook_bf16", "ddp.comm_hook_fp16"})


def checked_patch(session: TrialSession, flight: Flight) -> Patch:
    """The diff for what the autopilot kept, with how it was checked."""
    root = session.script.cwd or Path.cwd()
    events = _events(flight)
    patch = write_patch(flight.kept, events, root=root, command=session.script.command)
    if not patch.after:
        return patch
    for path, text in patch.after.items():
        try:
            compile(text, str(path), "exec", dont_inherit=True)
        except SyntaxError as error:
            return Patch(
                notes=(*patch.notes, f"the diff was dropped, it does not compile: {error}"), root=root
            )
    if flight.interrupted:
        return replace(patch, check="it compiles; it was not run, for the autopilot was interrupted")
    return _run(session, patch, flight.kept)


def _events(flight: Flight) -> list[KnobEvent]:
    """What the changed runs of the kept changes told of their knobs."""
    return [
        event
        for attempt in flight.attempts
        if attempt.kept
        for pair in attempt.outcome.measurement.pairs[:1]
        for event in pair.changed.events
        if event.knob in attempt.outcome.trial.knobs
    ]


def _run(session: TrialSession, patch: Patch, kept: Choice) -> Patch:
    folder = session.run.path / "trials" / "patched"
    folder.mkdir(parents=True, exist_ok=True)
    mapping = folder / "sources.json"
    mapping.write_text(
        json.dumps({str(path.resolve()): text for path, text in patch.after.items()}), encoding="utf-8"
    )
    command = patched_command(session.script.command, mapping, session.script.cwd or Path.cwd())
    if command is None:
        return replace(patch, check="it compiles; it was not run, for the command names no script file")
    limits = replace(session.script.limits, steps=CHECK_STEPS, warmup=1)
    watched = {name: kept.texts[name] for name in patch.written if name not in _ACT_FIRST}
    arm = run_arm(Script(command, session.script.cwd, limits), watched, folder)
    return replace(patch, check=_outcome(arm))


def patched_command(command: Sequence[str], mapping: Path, cwd: Path) -> tuple[str, ...] | None:
    """The same command with its script run through the changed sources; None where it names no script file."""
    for number, word in enumerate(command):
        if word == "-m" and number + 1 < len(command) and not command[number + 1].startswith("torch."):
            return None
        if number and word.endswith(".py") and (cwd / word).is_file():
            return (*command[:number], str(RUNNER), str(mapping.resolve()), word, *command[number + 1 :])
    return None


def _outcome(arm: Arm) -> str:
    if arm.failure is not None:
        return f"it compiles, but the script with it did not run: {arm.failure}"
    still = sorted({f"{event.knob} ({event.detail})" for event in arm.events if event.event == "applied"})
    if still:
        return f"it compiles and runs, but does not set everything where it counts: {', '.join(still)}"
    return f"checked: it compiles, and the script ran {arm.n_steps} steps with it"
