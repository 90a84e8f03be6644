"""Runs a command with knobs on, without recording, and tells what had no effect."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..advisor.trial.arm import knob_events
from ..advisor.trial.knob_choice import Choice, choose
from ..profiler.launch import python_command, start_with_knobs


def run_with_knobs(command: Sequence[str], words: Sequence[str]) -> int:
    """Run a command to its end with changes; returns its exit code."""
    choice = choose(words)
    program = list(command[1:]) if command[0] == "--" else python_command(command)
    with tempfile.TemporaryDirectory(prefix="trainrx-") as folder:
        process = start_with_knobs(program, choice.texts, Path(folder))
        code = None
        while code is None:
            try:
                code = process.wait()
            except KeyboardInterrupt:
                continue  # the terminal has sent it to the script as well
        _tell(choice, Path(folder))
    return 128 - code if code < 0 and -code in signal.valid_signals() else code


def _tell(choice: Choice, folder: Path) -> None:
    events = knob_events(folder)
    for name in choice.texts:
        told = [event for event in events if event.knob == name]
        if not any(event.event == "applied" for event in told):
            why = next((event.detail for event in told if event.event in ("not applied", "failed")), None)
            sys.stderr.write(
                f"trainrx: {name} had no effect: {why or 'the script never used what it changes'}\n"
            )
