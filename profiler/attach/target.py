"""The process to attach to: found, described, or refused in one sentence."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil

from ..errors import UsageError
from ..facts import printable

MAX_WORDS = 256


@dataclass(frozen=True)
class Target:
    """A process that is there.

    Attributes:
        pid: its id.
        command: program and arguments.
        cwd: its working directory; empty where the system does not tell.
        cpu_s: CPU seconds of each process of its tree so far, by pid.
        found_s: when that was, by `time.monotonic`.
    """

    pid: int
    command: tuple[str, ...]
    cwd: str
    cpu_s: dict[int, float]
    found_s: float


def find_target(pid: int) -> Target:
    """Look at a process.

    Raises:
        UsageError: there is none, or it is not to be looked at.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            raise UsageError(f"process {pid} has ended already: give the id of a running training process")
        command = tuple(printable(word) for word in process.cmdline()[:MAX_WORDS])
    except (psutil.NoSuchProcess, OverflowError, ValueError):
        raise UsageError(
            f"no process has the id {pid}: `ps aux` or `nvidia-smi` shows the ids of running processes"
        ) from None
    except psutil.AccessDenied:
        raise UsageError(f"process {pid} belongs to another user: attach as that user, or as root") from None
    return Target(pid, command, _cwd(process), cpu_seconds(pid), time.monotonic())


def cpu_seconds(pid: int) -> dict[int, float]:
    """CPU seconds so far of a process and all its descendants, by pid; those that end meanwhile are left out."""
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
    except psutil.Error:
        return {}
    found: dict[int, float] = {}
    for process in tree:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        found[process.pid] = float(times.user + times.system)
    return found


def _cwd(process: psutil.Process) -> str:
    try:
        return process.cwd()
    except (psutil.Error, OSError):
        return ""
