"""Finds the process that a file names by pid and start time; files come from anywhere, and may name any number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

#: How far two readings of one start time may lie apart, in seconds.
SAME_START_S = 1.0


def same_process(pid: int | None, started_s: float | None) -> psutil.Process | None:
    """The process, if it is still there; None where it is over, and where another one has its pid by now.

    Args:
        pid: as noted when the process was started; None, and what no process can have, is nobody's.
        started_s: when it was started, in seconds since the epoch; None takes any process with that pid.
    """
    if pid is None or pid <= 0:
        return None
    import psutil

    try:
        process = psutil.Process(pid)
        same = started_s is None or abs(process.create_time() - started_s) < SAME_START_S
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.Error, OverflowError, ValueError):
        return None


def is_same_process(pid: int | None, started_s: float | None) -> bool:
    """Whether the process is still there, as `same_process` finds it."""
    return same_process(pid, started_s) is not None
