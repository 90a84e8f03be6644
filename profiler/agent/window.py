"""The deep window: a few steps under ``torch.profiler``, after the steps that give the timing.

It writes a Chrome trace into the rank's folder. It stays away where another profiler is active, and makes way for one
that begins. What goes wrong with it is told and costs nothing but the window.
"""

from __future__ import annotations

import os
import sys
import time
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .format import TRACE_FILE

if TYPE_CHECKING:
    from .recorder import Recorder


class TraceWindow:
    """Starts and stops ``torch.profiler`` at step boundaries.

    Attributes:
        first: `at_step` is to be called from the end of this many steps on.
    """

    def __init__(self, first: int, steps: int) -> None:
        """Trace ``steps`` steps once ``first`` steps are over."""
        self.first = first
        self._last = first + steps
        self._profiler: Any = None
        self._step: Any = None
        self._thread = 0
        self._opening_s = 0.0
        self._script_profiles = False
        self._made_way = False

    def at_step(self, recorder: Recorder, done: int) -> bool:
        """Called after each step with the number of steps that are over; tells whether that opened or closed it.

        Opening and closing takes long and belongs to no step.
        """
        was_open = self._profiler is not None or self._made_way
        if self._made_way:
            self._made_way = recorder.traced = False
        if done == self.first and self._last > self.first:
            self._open(recorder)
        if self._profiler is not None:
            self._mark(done)
            if done >= self._last:
                self.close(recorder)
        return was_open != (self._profiler is not None)

    def _open(self, recorder: Recorder) -> None:
        torch = sys.modules["torch"]
        if self._script_profiles or torch.autograd._profiler_enabled():
            recorder.note("the deep window was left out: the script runs a profiler of its own")
            return
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_initialized():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        began = time.perf_counter()
        profiler = torch.profiler.profile(activities=activities, record_shapes=True)
        try:
            profiler.start()
        except Exception as error:
            recorder.note(f"the deep window could not be opened: {error!r}")
            return
        finally:
            self._script_profiles = False
        self._profiler, self._thread = profiler, get_ident()
        self._opening_s = time.perf_counter() - began
        recorder.traced = True

    def _mark(self, done: int) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
        self._step = sys.modules["torch"].profiler.record_function(f"ProfilerStep#{done}")
        self._step.__enter__()

    def profiler_begins(self, recorder: Recorder) -> None:
        """A profiler is about to be prepared or started in this thread; torch refuses a second one beside ours."""
        self._script_profiles = True
        if self._profiler is not None and self._thread == get_ident():
            self.abandon()
            self._made_way = True  # the step goes on, and took longer than a timed one
            recorder.note("the deep window was given up: the script began to run a profiler of its own")

    def profiler_ends(self) -> None:
        """A profiler, ours or the script's, has stopped."""
        self._script_profiles = False

    def close(self, recorder: Recorder) -> None:
        """Stop the profiler, if it runs, and write what it saw."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        recorder.traced = False
        began = time.perf_counter()
        try:
            if self._step is not None:
                self._step.__exit__(None, None, None)
                self._step = None
            profiler.stop()
            if recorder.folder is not None:
                profiler.export_chrome_trace(os.path.join(recorder.folder.path, TRACE_FILE))
                closing_s = time.perf_counter() - began
                recorder.folder.fact("deep_window", opening_s=self._opening_s, closing_s=closing_s)
        except Exception as error:
            recorder.note(f"the deep window could not be written: {error!r}")

    def abandon(self) -> None:
        """Stop the profiler if this thread started it, and keep nothing."""
        profiler = self._profiler
        if profiler is None or self._thread != get_ident():
            return
        self._profiler = self._step = None
        try:
            profiler.stop()
        except Exception:
            return
