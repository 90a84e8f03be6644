"""The agent's one thread in a training process: samples the training thread's stack and moves spans to disk.

It sleeps between samples and slows itself down when its own CPU time passes a budget.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from typing import TYPE_CHECKING

from . import memory
from .format import STOP_FILE
from .process import core_wait_ns
from .quick_switch import quick_switch
from .sampler import StackSampler

if TYPE_CHECKING:
    from .rank_folder import RankFolder
    from .recorder import Recorder

#: The thread's own CPU time may take this share of wall time before it samples less often.
CPU_BUDGET = 0.004
FLUSH_INTERVAL_S = 0.1
COST_INTERVAL_S = 1.0
#: What the agent costs is told less often as time goes by: each time this share of the run has passed again.
COST_SHARE = 0.01
SLOWEST_INTERVAL_S = 0.1
#: Memory is read so often at first, then less and less: about this many times while time grows threefold.
MEMORY_INTERVAL_S = 0.04
MEMORY_READINGS = 300


class Background:
    """Runs beside the training until the recorder goes off."""

    def __init__(self, recorder: Recorder, folder: RankFolder) -> None:
        self._recorder = recorder
        self._folder = folder
        self._sampler = StackSampler(folder)
        self._interval_s = recorder.options.sample_interval_s
        self._stop_file = os.path.join(recorder.options.run_dir, STOP_FILE)
        self._started = time.monotonic()
        self._n_spans = 0
        self._n_samples = 0
        self._cpu_s = 0.0
        self._memory_read = self._started

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="trainrx", daemon=True).start()

    def _run(self) -> None:
        try:
            with quick_switch():
                self._loop()
        except Exception as error:
            if self._recorder.is_on:
                self._recorder.fail(error)

    def _loop(self) -> None:
        flushed = told = self._started
        self.tell_cost()
        while self._recorder.is_on and self._recorder.folder is self._folder:
            time.sleep(self._interval_s)
            thread = self._recorder.thread
            if thread is not None:
                self._sampler.sample(thread)
            self._cpu_s = time.thread_time()
            moment = time.monotonic()
            self._read_memory(moment)
            if moment - flushed >= FLUSH_INTERVAL_S:
                flushed = moment
                self._flush()
            if moment - told >= self._cost_interval_s(told - self._started):
                told = moment
                self.tell_cost()
                self._keep_budget(moment)
        if not self._recorder.failed and self._recorder.folder is self._folder:
            self._flush()

    @staticmethod
    def _cost_interval_s(age_s: float) -> float:
        """Short at first, for a run of a second to have its cost told; long in the end, for the file to stay small."""
        return max(min(COST_INTERVAL_S, max(age_s, FLUSH_INTERVAL_S)), COST_SHARE * age_s)

    def _flush(self) -> None:
        self._heed_stop()
        self._n_spans += self._folder.write_spans(self._recorder.spans)
        self._folder.write_device(self._recorder.clock.records)
        self._n_samples += self._sampler.flush()

    def _read_memory(self, moment: float) -> None:
        if moment - self._memory_read >= max((moment - self._started) / MEMORY_READINGS, MEMORY_INTERVAL_S):
            self._memory_read = moment
            device = self._recorder.device_memory.used()
            graphs = self._recorder.kept_graphs.counted()
            self._recorder.kept_graphs.watch(self._recorder.steps)
            self._folder.fact("memory", **memory.used(), **device, **graphs, uncollected=gc.get_count()[0])

    def _heed_stop(self) -> None:
        try:
            with open(self._stop_file, encoding="ascii") as file:
                self._recorder.stop_at = int(file.read())
        except (FileNotFoundError, ValueError):
            return

    def tell_cost(self) -> None:
        """Write down what this thread has used so far; may be called by another thread at the end."""
        self._folder.fact(
            "cost",
            thread_cpu_s=self._cpu_s,
            spans=self._n_spans,
            samples=self._n_samples,
            interval_s=self._interval_s,
            clock_s=self._recorder.clock.cost_ns / 1e9,
            core_wait_ns=core_wait_ns(self._recorder.native_thread),
        )

    def _keep_budget(self, moment: float) -> None:
        share = self._cpu_s / max(moment - self._started, 1e-9)
        if share > CPU_BUDGET and self._interval_s < SLOWEST_INTERVAL_S:
            self._interval_s *= 1.5
