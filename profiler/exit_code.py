"""How a process failed, in words: with its exit code, or by the signal that killed it."""

from __future__ import annotations

import signal

#: What a shell and a container add to the number of the signal that killed a process.
_OF_SIGNALS = 128


def how_it_failed(code: int) -> str:
    """What follows "the script": ``failed with exit code 3``, ``was killed by SIGSEGV``.

    ``code`` is not 0, and negative for signals as in `subprocess`. SIGKILL leaves a process no last word, and is what a
    system ends those by that take its last memory.
    """
    number = code - _OF_SIGNALS if code == _OF_SIGNALS + signal.SIGKILL else -code
    if number < 0:
        return f"failed with exit code {code}"
    why = ", most likely because memory ran out" if number == signal.SIGKILL else ""
    return f"was killed by {signal_name(number)}{why}"


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
