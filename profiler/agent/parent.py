"""Ends this process when its parent dies, so that a killed trial leaves no training behind (Linux only).

Helper processes of ``multiprocessing`` watch their parents themselves and are left alone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the kernel for a SIGKILL at the parent's death."""
    argv = list(getattr(sys, "orig_argv", sys.argv))
    if sys.platform != "linux" or any("multiprocessing" in argument for argument in argv):
        return
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was asked
        os.kill(os.getpid(), signal.SIGKILL)
