"""Processes of ranks that end are noted, with the signal, whoever their parent is."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trainrx.profiler.agent import clock
from trainrx.profiler.rank_watch import RankWatch

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "pidfd_open") and hasattr(select, "poll")),
    reason="no process descriptors on this system",
)
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def a_rank(run: Path, name: str, pid: int, identity: str | None) -> Path:
    folder = run / "ranks" / name
    folder.mkdir(parents=True)
    fact = {"t": 1, "fact": "process", "pid": pid, "clock": identity}
    (folder / "facts.jsonl").write_text(json.dumps(fact) + "\n")
    return folder


def test_a_rank_that_is_killed_is_noted_with_its_signal(tmp_path: Path) -> None:
    # GIVEN two ranks that are watched
    processes = [subprocess.Popen(SLEEP) for _ in range(2)]
    folders = [a_rank(tmp_path, str(n), process.pid, clock.identity()) for n, process in enumerate(processes)]
    watch = RankWatch(tmp_path)
    watch.wait(0.01)
    # WHEN one is killed
    processes[1].kill()
    os.waitid(os.P_PID, processes[1].pid, os.WEXITED | os.WNOWAIT)
    watch.wait(0.01)
    # THEN its end is noted, and the other's is not
    assert json.loads((folders[1] / "gone").read_text())["signal"] == signal.SIGKILL
    assert not (folders[0] / "gone").exists()
    watch.close()
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize("identity", [None, "another machine"])
def test_a_number_of_another_machine_is_not_taken_for_a_process_of_this_one(tmp_path: Path, identity) -> None:
    with subprocess.Popen(SLEEP) as process:
        folder = a_rank(tmp_path, "0", process.pid, identity)
        watch = RankWatch(tmp_path)
        watch.wait(0.01)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        watch.close()
        assert not (folder / "gone").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"fact": "note"}\n', '{"fact": "process", "pid": -1}\n'])
def test_a_rank_that_has_not_told_who_it_is_is_left_for_later(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "ranks" / "0"
    folder.mkdir(parents=True)
    (folder / "facts.jsonl").write_text(text)
    watch = RankWatch(tmp_path)
    watch.wait(0.001)
    watch.close()
    assert not (folder / "gone").exists()


def test_without_ranks_it_only_waits(tmp_path: Path) -> None:
    watch = RankWatch(tmp_path)
    watch.wait(0.001)
    watch.close()


@pytest.mark.parametrize("interrupted", ["_poll", "_open"])
def test_an_interrupt_while_a_rank_is_forgotten_does_no_harm(tmp_path: Path, interrupted: str) -> None:
    # GIVEN a rank that is watched, and of which an interrupt left one half forgotten
    with subprocess.Popen(SLEEP) as process:
        a_rank(tmp_path, "0", process.pid, clock.identity())
        watch = RankWatch(tmp_path)
        watch.wait(0.01)
        (descriptor,) = watch._open
        if interrupted == "_poll":
            watch._poll.unregister(descriptor)  # type: ignore[union-attr]
        else:
            watch._open.pop(descriptor)
        # WHEN it ends THEN it is forgotten in whole
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        watch._note(descriptor)
        assert not watch._open and not watch._poll.poll(0)  # type: ignore[union-attr]
        watch.close()
    assert (tmp_path / "ranks" / "0" / "gone").exists() == (interrupted == "_poll")
    if interrupted == "_open":
        os.close(descriptor)
