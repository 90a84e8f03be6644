"""A trial in the background: refused before anything starts, found again, cancelled with all that it started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from trainrx.app.background_trial import (
    AUTOPILOT,
    BackgroundTrial,
    cancel,
    last_started,
    log_tail,
    running_in,
    start,
)
from trainrx.profiler.errors import UsageError
from trainrx.profiler.store import RunFolder

SCRIPT = """
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    for batch in DataLoader(torch.randn(64, 4), batch_size=4):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""


@pytest.fixture
def run(runs: Path, tmp_path: Path, samples: Any) -> RunFolder:
    """A stored run of a script that never ends by itself."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    kept = samples.manifest("a").model_copy(
        update={"command": [sys.executable, str(script)], "cwd": str(tmp_path)}
    )
    return samples.store(runs, "a", report=samples.full_report("a"), kept=kept)


def note(run: RunFolder, **changes: Any) -> BackgroundTrial:
    """Records a trial of this very process."""
    me = psutil.Process()
    found = BackgroundTrial(
        words=["x.y=1"], pid=me.pid, process_started=me.create_time(), started_s=time.time()
    )
    found = found.model_copy(update=changes)
    (run.path / "trials").mkdir(exist_ok=True)
    (run.path / "trials" / "process.json").write_text(found.model_dump_json())
    return found


def test_nothing_was_started(run: RunFolder) -> None:
    assert last_started(run) is None
    assert log_tail(run) == ""
    cancel(run)


@pytest.mark.parametrize("text", ["", "{", '{"words": 1}'])
def test_a_damaged_note_is_nothing(run: RunFolder, text: str) -> None:
    note(run)
    (run.path / "trials" / "process.json").write_text(text)
    assert last_started(run) is None


@pytest.mark.parametrize(
    "words", [["no.such_knob=1"], ["loader.num_workers=many"], ["--help"], ["; rm -rf /"], [AUTOPILOT, "x"]]
)
def test_words_that_cannot_be_meant_start_nothing(run: RunFolder, words: list[str]) -> None:
    with pytest.raises(UsageError):
        start(run, words, budget_s=60)
    assert last_started(run) is None


@pytest.mark.parametrize("budget_s", [0.0, -1.0, 1e9])
def test_a_senseless_budget_is_refused(run: RunFolder, budget_s: float) -> None:
    with pytest.raises(UsageError, match="may take 1 to"):
        start(run, ["loader.num_workers=1"], budget_s=budget_s)


def test_only_one_at_a_time(run: RunFolder, samples: Any) -> None:
    note(run)
    other = samples.store(run.path.parent, "b", report=samples.full_report("b"))
    assert running_in(run.path.parent) is not None
    with pytest.raises(UsageError, match="a trial of a is going on"):
        start(other, ["loader.num_workers=1"], budget_s=60)


def test_another_process_with_the_same_pid_is_not_it_and_is_left_alone(run: RunFolder) -> None:
    note(run, process_started=1.0)
    found = last_started(run)
    assert found is not None
    assert not found.running
    cancel(run)
    assert psutil.Process(os.getpid()).is_running()


@pytest.mark.parametrize("pid", [-1, 0, 2**70])
def test_a_pid_that_no_process_has_is_nobodys(run: RunFolder, pid: int) -> None:
    note(run, pid=pid)
    found = last_started(run)
    assert found is not None and not found.running
    assert running_in(run.path.parent) is None
    cancel(run)


def test_the_log_is_cut_to_its_end(run: RunFolder) -> None:
    note(run)
    (run.path / "trials" / "process.log").write_bytes(b"\xff first\n" * 20_000 + b"last\n")
    assert log_tail(run, lines=2).splitlines()[-1] == "last"


def test_a_run_with_an_equals_sign_in_its_name_is_the_one_that_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: Any
) -> None:
    # GIVEN a run that could be taken for a change
    (tmp_path / "runs").mkdir()
    named = samples.store(tmp_path / "runs", "lr=0.1", report=samples.full_report("a"))
    started: list[list[str]] = []

    def popen(command: list[str], **more: Any) -> Any:
        started.append(command)
        return original([sys.executable, "-c", ""])

    original = subprocess.Popen
    monkeypatch.setattr("trainrx.app.background_trial.subprocess.Popen", popen)

    # WHEN the autopilot is started on it
    start(named, [AUTOPILOT], budget_s=60)

    # THEN its own path is what is tried
    assert started[0][-2:] == ["--", str(named.path.resolve())]


def test_started_found_again_and_cancelled_with_all_that_it_started(run: RunFolder) -> None:
    # GIVEN a trial whose script goes on for ever
    started = start(run, ["loader.num_workers=1"], budget_s=600)
    arms = run.path / "trials" / "1" / "arms"
    wait(lambda: any(arms.glob("*/ranks/0/spans*")))
    family = psutil.Process(started.pid).children(recursive=True)
    assert family
    # WHEN someone else looks THEN it is found, by its folder alone
    found = last_started(run)
    assert found is not None
    assert found.running
    assert found.words == ["loader.num_workers=1"]
    # WHEN it is cancelled THEN no process is left, and the trial says so
    cancel(run)
    assert not found.running
    assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    from trainrx.advisor.trial.store import stored_trials

    assert [trial.verdict for trial in stored_trials(run)] == ["interrupted"]


def wait(ready: Any, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.2)
