"""Samples one thread's Python stack; stacks are written down once, samples as numbers."""

from __future__ import annotations

import gc
import linecache
import os
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from .rank_folder import RecordFolder

MAX_STACKS = 20_000
MAX_FRAMES = 60
MAX_TEXT = 200
UNDISTURBED_S = 0.1
#: Python counts the interval in microseconds and rounds down.
_HALF_A_MICROSECOND_S = 0.5e-6
_AGENT = os.path.dirname(os.path.abspath(__file__))
_NOT_THE_SCRIPT = (_AGENT, os.path.dirname(os.__file__), "<")
_COLLECTS_AT_ONCE = sys.version_info < (3, 12)
_LIBRARY_MARKS = ("/site-packages/", "/dist-packages/", "\\site-packages\\")


class StackSampler:
    """Takes samples for one folder.

    Stack numbers are unique over the processes that write to the same folder one after another.
    """

    def __init__(self, folder: RecordFolder) -> None:
        self._folder = folder
        self._base = os.getpid() << 24
        self._stacks: dict[tuple[Any, ...], int] = {}
        self._samples: list[tuple[int, int]] = []

    def sample(self, thread: int) -> None:
        """Take one sample of a thread, by its ident."""
        key = stack_of(thread)
        if key:
            self._samples.append((time.perf_counter_ns(), self._number(key)))

    def flush(self) -> int:
        """Write what was sampled since; returns how many samples that were."""
        samples, self._samples = self._samples, []
        if samples:
            self._folder.write_samples(samples)
        return len(samples)

    def _number(self, key: list[Any]) -> int:
        if len(self._stacks) >= MAX_STACKS:
            key = key[:2]
        known = self._stacks.get(tuple(key))
        return self._write_down(tuple(key)) if known is None else known

    def _write_down(self, key: tuple[Any, ...]) -> int:
        number = self._base + len(self._stacks)
        self._stacks[key] = number
        self._folder.fact("stack", number=number, frames=_describe(key))
        return number


def stack_of(thread: int) -> list[Any]:
    """Code and line of each frame of a thread in turn, innermost first; empty where there is no such thread.

    Nothing else runs meanwhile. No other thread asks for Python's lock before `UNDISTURBED_S` has passed: Python 3.11
    has crashed where frames ended that another thread held. And no garbage is collected: before Python 3.12 an
    allocation may start that at once, and ``sys._current_frames`` allocates while it holds the lock on the list of
    threads. Python code that a collection calls may then let another thread run, which waits for that lock for ever if
    it is starting a thread.
    """
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(UNDISTURBED_S)
    collects = _COLLECTS_AT_ONCE and gc.isenabled()
    if collects:
        gc.disable()
    try:
        return _key(sys._current_frames().get(thread))
    finally:
        if collects:
            gc.enable()
        sys.setswitchinterval(interval_s + _HALF_A_MICROSECOND_S)


def describe_stack(frame: FrameType | None) -> list[tuple[Any, ...]]:
    """Frames as ``file, line, function``, innermost first; the innermost and the script's innermost with their text."""
    return _describe(_key(frame))


def describe_error(error: BaseException) -> dict[str, Any]:
    """An exception's class and text, and the frames it came through, innermost first."""
    key: list[Any] = []
    traceback = error.__traceback__
    while traceback is not None:
        key[:0] = (traceback.tb_frame.f_code, traceback.tb_lineno or 0)
        traceback = traceback.tb_next
    return {
        "error": type(error).__name__,
        "text": str(error)[:MAX_TEXT],
        "frames": _describe(key[: 2 * MAX_FRAMES]),
    }


def _key(frame: FrameType | None) -> list[Any]:
    """Code and line of each frame in turn, innermost first."""
    key: list[Any] = []
    while frame is not None and len(key) < 2 * MAX_FRAMES:
        key.append(frame.f_code)
        key.append(frame.f_lineno or 0)
        frame = frame.f_back
    return key


def _describe(key: Sequence[Any]) -> list[tuple[Any, ...]]:
    frames: list[tuple[Any, ...]] = [
        (code.co_filename, line, getattr(code, "co_qualname", code.co_name))
        for code, line in zip(key[::2], key[1::2])  # noqa: B905 - the agent also runs on Python 3.9
    ]
    found = {_first(frames, _is_script), _first(frames, _is_not_ours)}
    for position in (place for place in found if place is not None):
        file, line, function = frames[position]
        frames[position] = (file, line, function, linecache.getline(file, line).strip()[:MAX_TEXT])
    return frames


def _first(frames: Sequence[tuple[Any, ...]], is_one: Callable[[str], bool]) -> int | None:
    return next((position for position, (file, *_) in enumerate(frames) if is_one(file)), None)


def _is_not_ours(file: str) -> bool:
    return not file.startswith(_AGENT)


def _is_script(file: str) -> bool:
    return not file.startswith(_NOT_THE_SCRIPT) and not any(mark in file for mark in _LIBRARY_MARKS)
