"""The agent's one thread: samples the training thread's Python stack and moves spans to disk.

It sleeps between samples and slows itself down when its own CPU time passes a budget.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from .format import STOP_FILE

if TYPE_CHECKING:
    from types import FrameType

    from .recorder import Recorder

#: The thread's own CPU time may take this share of wall time before it samples less often.
CPU_BUDGET = 0.004
FLUSH_INTERVAL_S = 0.1
COST_INTERVAL_S = 1.0
MAX_STACKS = 20_000
MAX_FRAMES = 60


class Background:
    """Runs beside the training until the recorder goes off."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._interval_s = recorder.options.sample_interval_s
        self._stop_file = os.path.join(recorder.options.run_dir, STOP_FILE)
        self._stacks: dict[tuple[Any, ...], int] = {}
        self._samples: list[tuple[int, int]] = []
        self._n_spans = 0
        self._n_samples = 0
        self._thread = threading.Thread(target=self._run, name="trainrx", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def _run(self) -> None:
        recorder = self._recorder
        try:
            self._loop()
        except Exception as error:
            if recorder.is_on:
                recorder.fail(error)

    def _loop(self) -> None:
        recorder = self._recorder
        flushed = told = time.monotonic()
        self._started = told
        while recorder.is_on and recorder.folder is not None:
            time.sleep(self._interval_s)
            self._sample()
            moment = time.monotonic()
            if moment - flushed >= FLUSH_INTERVAL_S:
                flushed = moment
                self._flush()
            if moment - told >= min(COST_INTERVAL_S, max(told - self._started, FLUSH_INTERVAL_S)):
                self._tell_cost()
                self._keep_budget(moment)
                told = moment
        if not recorder.failed and recorder.folder is not None:
            self._flush()

    def _sample(self) -> None:
        thread = self._recorder.thread
        frame = sys._current_frames().get(thread) if thread is not None else None
        if frame is not None:
            self._samples.append((time.perf_counter_ns(), self._stack_number(frame)))

    def _stack_number(self, frame: FrameType | None) -> int:
        key: list[Any] = []
        while frame is not None and len(key) < 2 * MAX_FRAMES:
            key.append(frame.f_code)
            key.append(frame.f_lineno)
            frame = frame.f_back
        if len(self._stacks) >= MAX_STACKS:
            key = key[:2]
        known = self._stacks.get(tuple(key))
        return self._new_stack(tuple(key)) if known is None else known

    def _new_stack(self, key: tuple[Any, ...]) -> int:
        number = len(self._stacks)
        self._stacks[key] = number
        frames = [
            (code.co_filename, line, getattr(code, "co_qualname", code.co_name))
            for code, line in zip(key[::2], key[1::2], strict=True)
        ]
        folder = self._recorder.folder
        if folder is not None:
            folder.fact("stack", number=number, frames=frames)
        return number

    def _flush(self) -> None:
        recorder = self._recorder
        folder = recorder.folder
        if folder is None:
            return
        self._heed_stop()
        self._n_spans += folder.write_spans(recorder.spans)
        if self._samples:
            samples, self._samples = self._samples, []
            self._n_samples += len(samples)
            folder.write_samples(samples)

    def _heed_stop(self) -> None:
        try:
            with open(self._stop_file) as file:
                self._recorder.stop_at = int(file.read())
        except (FileNotFoundError, ValueError):
            return

    def _tell_cost(self) -> None:
        folder = self._recorder.folder
        if folder is not None:
            folder.fact(
                "cost",
                thread_cpu_s=time.thread_time(),
                spans=self._n_spans,
                samples=self._n_samples,
                interval_s=self._interval_s,
            )

    def _keep_budget(self, moment: float) -> None:
        share = time.thread_time() / max(moment - self._started, 1e-9)
        if share > CPU_BUDGET and self._interval_s < 0.1:
            self._interval_s *= 1.5
