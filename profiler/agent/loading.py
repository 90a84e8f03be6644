"""Measures how batches are made: seconds and CPU seconds per sample, collate, transforms, bytes read.

In a worker process it also samples the worker's stack. In a training process without workers the training thread's own
sampler covers that. A fault switches the measuring off, never the loading, and is told in a note.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from multiprocessing import current_process
from multiprocessing.util import Finalize
from time import perf_counter_ns as now
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

from . import memory, process, transforms
from .alike_loaders import AlikeLoaders
from .format import LOADER_KEY, LOADING_FAULT, MAIN_PROCESS, WORKER_MARK
from .quick_switch import quick_switch
from .rank_folder import RecordFolder, WorkerFolder
from .sampler import StackSampler

if TYPE_CHECKING:
    from .recorder import Recorder

FLUSH_INTERVAL_NS = 100_000_000
#: The totals of transforms are told again whenever the time since the first batch has grown by this factor.
TELL_GROWTH = 1.02
#: A worker's memory is read again whenever its age has grown by this factor.
MEMORY_GROWTH = 1.15
#: And no sooner than that reading it has taken at most this share of the time from one core.
MEMORY_BUDGET = 0.01
#: A batch buffer this long is written at once rather than at the next flush.
MAX_BUFFERED = 64
#: What is told of core wait and bytes read where they are not looked at.
_UNKNOWN = (-1, -1)


class Loading:
    """Finds the probe of a fetcher; one per process. All fetchers of a loader, one an epoch, share theirs.

    Attributes:
        alike: tells the loaders of this process apart, no more than have probes and folders here.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._off = False
        self._probes: dict[str, BatchProbe] = {}
        self.alike = AlikeLoaders()

    def probe(self, fetcher: Any) -> BatchProbe | None:
        """The probe of this fetcher, made at its first fetch; None where nothing is to be measured."""
        if self._off:
            return None
        try:
            probe = self._make(fetcher)
        except Exception as error:
            self._fail(fetcher, error)
            return None
        fetcher._trainrx_probe = probe
        return probe

    def _make(self, fetcher: Any) -> BatchProbe:
        path = self._path(fetcher)
        if path is None:
            return BatchProbe(None)
        if path not in self._probes:
            self._probes[path] = BatchProbe.begin(path, self._recorder)
        self._probes[path].watch(fetcher)
        return self._probes[path]

    def _fail(self, fetcher: Any, error: Exception) -> None:
        """Measure nothing more in this process, and say so where its batches would be told of."""
        self._off = True
        for probe in self._probes.values():
            probe.is_on = False
        try:
            path = self._path(fetcher) if process.loader_worker_id() is not None else None
            _tell_fault(self._recorder.folder if path is None else RecordFolder(path), error)
        except Exception:
            return

    def last_words(self) -> None:
        """Write what the training process has loaded since the last writing."""
        for probe in self._probes.values():
            probe.last_words()

    def _path(self, fetcher: Any) -> str | None:
        worker = process.loader_worker_id()
        if worker is not None:
            told: str = getattr(current_process(), "_config", {}).get(LOADER_KEY, "")
            return told.replace(WORKER_MARK, str(worker)) or None
        folder, loader = self._recorder.folder, getattr(fetcher, "_trainrx_loader", None)
        if folder is None or loader is None or not self._recorder.is_on:
            return None
        return folder.worker_path(loader, MAIN_PROCESS)


class BatchProbe:
    """Measures the batches of one loader in one process."""

    def __init__(self, folder: WorkerFolder | None) -> None:
        self.collate_start_ns = 0
        self.collate_cpu_ns = 0
        self.is_on = folder is not None
        self._folder = folder
        self._noted: list[tuple[int, ...]] = []
        self._started_ns = now()
        self._due_ns = self._started_ns + FLUSH_INTERVAL_NS
        self._pid = os.getpid()
        self._tell_ns = 0
        self._memory_ns = 0
        self._in_worker = process.loader_worker_id() is not None

    @classmethod
    def begin(cls, path: str, recorder: Recorder) -> BatchProbe:
        """Make a probe that writes to ``path``."""
        probe = cls(WorkerFolder(path))
        if probe._in_worker:
            probe.start_worker(recorder.options.sample_interval_s)
        return probe

    def watch(self, fetcher: Any) -> None:
        """See a fetcher's collate function and transforms."""
        collate = fetcher.collate_fn

        def timed_collate(data: Any) -> Any:
            self.collate_start_ns, self.collate_cpu_ns = now(), thread_time_ns()
            return collate(data)

        fetcher.collate_fn = timed_collate
        transforms.watch(fetcher.dataset)

    def batch_done(self, index: Any, start: int, cpu_start: int, end: int, cpu_end: int) -> None:
        """Note one batch; ``index`` is what the fetcher was asked for. It is worked out when it is written."""
        try:
            samples = len(index) if isinstance(index, (list, tuple)) else 1
            wait_ns, read = _process_counters() if self._in_worker else _UNKNOWN
            collated = self.collate_start_ns, cpu_start, self.collate_cpu_ns, cpu_end
            self._noted.append((start, end, samples, *collated, wait_ns, read))
            if end > self._due_ns or len(self._noted) >= MAX_BUFFERED:
                self._write(end)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Measure nothing more, and say so once."""
        was_on, self.is_on = self.is_on, False
        if was_on:
            _tell_fault(self._folder, error)

    def _write(self, moment_ns: int) -> None:
        if self._pid != os.getpid():
            self.is_on = False  # a process forked from the one that measures: what was noted is that one's
            return
        noted, self._noted = self._noted, []
        self._due_ns = moment_ns + FLUSH_INTERVAL_NS
        if self._folder is not None and noted:
            self._folder.write_batches([(*_worked_out(*batch), self._pid) for batch in noted])
            if moment_ns - self._started_ns >= self._tell_ns:
                transforms.tell(self._folder)
                self._tell_ns = int((moment_ns - self._started_ns) * TELL_GROWTH)

    def _read_memory(self, moment_ns: int) -> None:
        if self._folder is None or moment_ns - self._started_ns < self._memory_ns:
            return
        cpu_start = thread_time_ns()
        self._folder.fact("memory", pid=os.getpid(), **memory.private())
        age, cost = now() - self._started_ns, thread_time_ns() - cpu_start
        self._memory_ns = int(max(age * MEMORY_GROWTH, age + cost / MEMORY_BUDGET))

    def last_words(self) -> None:
        """Write what was noted since the last writing."""
        try:
            self._write(now())
        except Exception as error:
            self._fail(error)

    def start_worker(self, interval_s: float) -> None:
        """Say when this worker was ready for its first batch, and sample its main thread from now on."""
        if self._folder is None:
            return
        torch = sys.modules["torch"]
        self._folder.fact("worker", pid=os.getpid(), ready_ns=now(), threads=torch.get_num_threads())
        Finalize(None, self.last_words, exitpriority=0)
        sampler = StackSampler(self._folder)

        def run() -> None:
            try:
                self._watch(sampler, interval_s)
            except Exception as error:
                self._fail(error)

        threading.Thread(target=run, name="trainrx", daemon=True).start()

    def _watch(self, sampler: StackSampler, interval_s: float) -> None:
        """Sample the main thread and write down what there is, until the probe goes off."""
        thread, flushed = threading.main_thread().ident, time.monotonic()
        with quick_switch():
            while self.is_on and thread is not None:
                time.sleep(interval_s)
                sampler.sample(thread)
                if time.monotonic() - flushed > FLUSH_INTERVAL_NS / 1e9:
                    flushed = time.monotonic()
                    sampler.flush()
                    self._write(now())
                    self._read_memory(now())


def _tell_fault(folder: RecordFolder | None, error: Exception) -> None:
    """Note a fault in a folder; where even that fails, a report finds no batches and says so."""
    if folder is None:
        return
    try:
        folder.fact("note", text=f"{LOADING_FAULT}: {type(error).__name__}: {error}.")
    except Exception:
        return


def _worked_out(
    start: int,
    end: int,
    samples: int,
    collate: int,
    cpu_start: int,
    collate_cpu: int,
    cpu_end: int,
    *counters: int,
) -> tuple[int, ...]:
    """A batch as a record of `format`, but for the process; nothing was collated where ``collate`` is 0."""
    if not collate:
        collate, collate_cpu = end, cpu_end
    before, after = (collate - start, collate_cpu - cpu_start), (end - collate, cpu_end - collate_cpu)
    return (start, end, samples, *before, *after, *counters)


def _process_counters() -> tuple[int, int]:
    """Nanoseconds this thread waited for a core, and bytes read, since the process began; -1 if not known."""
    wait = process.core_wait_ns(threading.get_native_id())
    try:
        with open("/proc/self/io", "rb") as file:
            return wait, int(file.readline().split()[1])
    except (OSError, ValueError, IndexError):
        return wait, -1
