"""A process named by a file: found by pid and start time, and by nothing else."""

import os
import subprocess
import sys

import psutil
import pytest

from trainrx.profiler.same_process import is_same_process, same_process

ME = psutil.Process()


def test_a_process_is_found_by_pid_and_start_time() -> None:
    found = same_process(os.getpid(), ME.create_time())
    assert found is not None and found.pid == os.getpid()
    assert is_same_process(os.getpid(), None)


def test_another_one_with_its_pid_is_not_it() -> None:
    assert not is_same_process(os.getpid(), ME.create_time() - 60)


@pytest.mark.parametrize("pid", [None, 0, -1, -(2**70), 2**31, 2**70])
def test_what_no_process_can_have_is_nobodys(pid: int | None) -> None:
    assert not is_same_process(pid, None)


def test_one_that_ended_and_was_not_waited_for_is_over() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert not is_same_process(process.pid, None)
    process.stdout.close()
    process.wait()
