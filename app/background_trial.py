"""A trial that goes on by itself: started, found again, followed and cancelled by what lies in the run's folder.

It is ``trainrx try`` in a process of its own, in a session of its own, so that it outlives browser and dashboard; its
pid and start time are recorded, so that another process with the same pid is never taken for it. One at a time in a
folder of runs: two at once would measure each other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from ..advisor.trial.knob_choice import choose
from ..advisor.trial.store import TRIALS_FOLDER
from ..profiler.errors import UsageError
from ..profiler.same_process import same_process
from ..profiler.store import RunFolder, list_runs

PROCESS_FILE = "process.json"
LOG_FILE = "process.log"
MAX_FILE_BYTES = 64 * 1024
#: What a trial that is told to end may take to end its script, in seconds.
ENDING_S = 15.0
KILLING_S = 5.0
AUTOPILOT = "--auto"
MAX_BUDGET_S = 3600.0
_MAIN = "from trainrx.app.cli import main; main()"


class BackgroundTrial(BaseModel):
    """``trials/process.json``: what was started last."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    words: list[str]
    pid: int
    process_started: float
    started_s: float

    @property
    def elapsed_s(self) -> float:
        """Seconds since it was started."""
        return max(0.0, time.time() - self.started_s)

    @property
    def running(self) -> bool:
        """Whether its process is still there."""
        return _process(self) is not None


def start(run: RunFolder, words: Sequence[str], *, budget_s: float) -> BackgroundTrial:
    """Start ``trainrx try`` for a run, with ``KNOB=VALUE`` words or `AUTOPILOT`.

    Raises:
        UsageError: the words cannot be meant, or a trial of these runs is going on already.
    """
    if list(words) != [AUTOPILOT]:
        choose(words)
    if not 1 <= budget_s <= MAX_BUDGET_S:
        raise UsageError(f"a trial may take 1 to {MAX_BUDGET_S:.0f} seconds, not {budget_s:.0f}")
    busy = running_in(run.path.parent)
    if busy is not None:
        raise UsageError(f"a trial of {busy.path.name} is going on: wait for it, or cancel it")
    folder = run.path / TRIALS_FOLDER
    folder.mkdir(exist_ok=True)
    process = _spawn(run, words, budget_s, folder / LOG_FILE)
    started = BackgroundTrial(
        words=list(words),
        pid=process.pid,
        process_started=psutil.Process(process.pid).create_time(),
        started_s=time.time(),
    )
    _write(folder / PROCESS_FILE, started.model_dump_json())
    threading.Thread(target=process.wait, daemon=True, name="reaps a trial").start()
    return started


def last_started(run: RunFolder) -> BackgroundTrial | None:
    """What was started last for a run, going on or over; None where there is nothing readable."""
    path = run.path / TRIALS_FOLDER / PROCESS_FILE
    try:
        return BackgroundTrial.model_validate_json(path.read_bytes()[:MAX_FILE_BYTES])
    except (OSError, ValidationError):
        return None


def running_in(runs_dir: Path) -> RunFolder | None:
    """The run of the folder whose trial is going on."""
    for run in list_runs(runs_dir):
        found = last_started(run)
        if found is not None and found.running:
            return run
    return None


def log_tail(run: RunFolder, lines: int = 14) -> str:
    """The last lines that the trial printed; empty before it did."""
    path = run.path / TRIALS_FOLDER / LOG_FILE
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - MAX_FILE_BYTES))
            text = log.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(line.rstrip() for line in text.strip().splitlines()[-lines:])


def cancel(run: RunFolder) -> None:
    """End a run's trial, its script and everything that they started; it is over when this returns."""
    found = last_started(run)
    process = None if found is None else _process(found)
    if process is None:
        return
    family = [process, *_children(process)]
    _tell(process, "terminate")
    psutil.wait_procs([process], timeout=ENDING_S)
    left = [one for one in {*family, *_children(process)} if one.is_running()]
    for one in left:
        _tell(one, "kill")
    psutil.wait_procs(left, timeout=KILLING_S)


def _spawn(run: RunFolder, words: Sequence[str], budget_s: float, log: Path) -> subprocess.Popen[bytes]:
    options = ["--runs", str(run.path.parent), "--budget", f"{budget_s:g}"]
    changes = list(words)
    if changes == [AUTOPILOT]:
        options, changes = [*options, AUTOPILOT], []
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-c", _MAIN, "try", *options, "--", str(run.path.resolve()), *changes],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "110"},
        )


def _process(found: BackgroundTrial) -> psutil.Process | None:
    return same_process(found.pid, found.process_started)


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _tell(process: psutil.Process, what: str) -> None:
    try:
        getattr(process, what)()
    except psutil.Error:
        return


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
