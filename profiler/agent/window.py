"""The deep window: a few steps under ``torch.profiler``, after the steps that give the timing.

It writes a Chrome trace into the rank's folder. It stays away where another profiler is active.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .format import TRACE_FILE

if TYPE_CHECKING:
    from .recorder import Recorder


class TraceWindow:
    """Starts and stops ``torch.profiler`` at step boundaries."""

    def __init__(self, first: int, steps: int) -> None:
        """Trace ``steps`` steps once ``first`` steps are over."""
        self._first = first
        self._last = first + steps
        self._profiler: Any = None
        self._step: Any = None
        self._thread = 0

    def at_step(self, recorder: Recorder, done: int) -> bool:
        """Called after each step with the number of steps that are over; tells whether that opened or closed it.

        Opening and closing takes long and belongs to no step.
        """
        was_open = self._profiler is not None
        if done == self._first and self._last > self._first:
            self._open(recorder)
        if self._profiler is not None:
            self._mark(done)
            if done >= self._last:
                self.close(recorder)
        return was_open != (self._profiler is not None)

    def _open(self, recorder: Recorder) -> None:
        torch = sys.modules["torch"]
        if torch.autograd._profiler_enabled():
            recorder.note("the deep window was left out: the script runs a profiler of its own")
            return
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_initialized():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        profiler = torch.profiler.profile(activities=activities, record_shapes=True)
        profiler.start()
        self._profiler, self._thread = profiler, get_ident()
        recorder.traced = True

    def _mark(self, done: int) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
        self._step = sys.modules["torch"].profiler.record_function(f"ProfilerStep#{done}")
        self._step.__enter__()

    def close(self, recorder: Recorder) -> None:
        """Stop the profiler, if it runs, and write what it saw."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        recorder.traced = False
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None
        profiler.stop()
        if recorder.folder is not None:
            profiler.export_chrome_trace(os.path.join(recorder.folder.path, TRACE_FILE))

    def abandon(self) -> None:
        """After a fault: stop the profiler if this thread started it, and keep nothing."""
        profiler = self._profiler
        if profiler is None or self._thread != get_ident():
            return
        self._profiler = self._step = None
        try:
            profiler.stop()
        except Exception:
            return
