"""Samples one thread's Python stack; stacks are written down once, samples as numbers."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from .rank_folder import RecordFolder

MAX_STACKS = 20_000
MAX_FRAMES = 60


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
        frame = sys._current_frames().get(thread)
        if frame is not None:
            self._samples.append((time.perf_counter_ns(), self._number(frame)))

    def flush(self) -> int:
        """Write what was sampled since; returns how many samples that were."""
        samples, self._samples = self._samples, []
        if samples:
            self._folder.write_samples(samples)
        return len(samples)

    def _number(self, frame: FrameType | None) -> int:
        key: list[Any] = []
        while frame is not None and len(key) < 2 * MAX_FRAMES:
            key.append(frame.f_code)
            key.append(frame.f_lineno)
            frame = frame.f_back
        if len(self._stacks) >= MAX_STACKS:
            key = key[:2]
        known = self._stacks.get(tuple(key))
        return self._write_down(tuple(key)) if known is None else known

    def _write_down(self, key: tuple[Any, ...]) -> int:
        number = self._base + len(self._stacks)
        self._stacks[key] = number
        frames = [
            (code.co_filename, line, getattr(code, "co_qualname", code.co_name))
            for code, line in zip(key[::2], key[1::2])  # noqa: B905 - the agent also runs on Python 3.9
        ]
        self._folder.fact("stack", number=number, frames=frames)
        return number
