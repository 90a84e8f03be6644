"""Folders of append-only files, readable after ``kill -9``: one per rank, and in it one per loader worker.

Writes go straight to file descriptors; nothing is held back in Python buffers. A full or read-only disk raises here
and the caller switches the agent off; a rank's reserved ``fault`` file can still be overwritten then.
"""

from __future__ import annotations

import array
import itertools
import json
import os
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

from . import process
from .format import (
    BATCHES_FILE,
    DEVICE_FILE,
    FACTS_FILE,
    FAULT_BYTES,
    FAULT_FILE,
    LAST_WORDS,
    MAX_FACTS_BYTES,
    MINUTES_FILE,
    SAMPLES_FILE,
    SPANS_FILE,
    WORKERS_FOLDER,
)
from .rolling import Minutes, RollingFile

if TYPE_CHECKING:
    import collections
    from collections.abc import Iterable, Iterator

    from .device_clock import Record
    from .recorder import Span

FULL = "The file of facts is full: stacks and settings seen later in this run were not written down."
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class RecordFolder:
    """A folder that facts and samples are appended to."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._inodes: dict[int, int] = {}
        os.makedirs(path, exist_ok=True)
        self._facts = self.open(FACTS_FILE)
        self._facts_room = MAX_FACTS_BYTES - os.fstat(self._facts).st_size
        self._samples = RollingFile(self, SAMPLES_FILE)

    def fact(self, fact: str, **values: Any) -> None:
        """Append one line to ``facts.jsonl``, unless that is full and this is no last word."""
        if self._facts_room <= 0 and fact not in LAST_WORDS:
            return
        text = json.dumps({"t": time.perf_counter_ns(), "fact": fact, **values}, default=str)
        line = text.encode("utf-8", "replace") + b"\n"
        self.write(self._facts, line)
        had_room, self._facts_room = self._facts_room > 0, self._facts_room - len(line)
        if had_room and self._facts_room <= 0:
            self.fact("note", text=FULL)

    def write_samples(self, samples: Iterable[tuple[int, int]]) -> None:
        """Append stack samples ``(time_ns, stack)``."""
        self._samples.write(_words(samples))

    def open(self, name: str, flags: int = _APPEND) -> int:
        """A descriptor of a file in this folder, remembered so that it is known again."""
        descriptor = os.open(os.path.join(self.path, name), flags, 0o644)
        self._inodes[descriptor] = os.fstat(descriptor).st_ino
        return descriptor

    def close(self, descriptor: int) -> None:
        """Close a descriptor, if it still is the file that was opened."""
        inode = self._inodes.pop(descriptor)
        if os.fstat(descriptor).st_ino == inode:
            os.close(descriptor)

    def write(self, descriptor: int, data: bytes) -> None:
        """Append data whole.

        Raises:
            OSError: the disk is full, or the descriptor is another file by now.
        """
        if (
            os.fstat(descriptor).st_ino != self._inodes[descriptor]
        ):  # the number may be the script's own file by now
            raise OSError("the script closed the recorder's files")
        written = os.write(descriptor, data)
        if written != len(data):
            raise OSError(f"only {written} of {len(data)} bytes could be written: the disk is full")


class RankFolder(RecordFolder):
    """Where one training process writes."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._lock = threading.Lock()
        self._spans = RollingFile(self, SPANS_FILE)
        self._device: RollingFile | None = None
        self._minute = Minutes()
        self._fault = self.open(FAULT_FILE, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0))
        os.write(self._fault, b" " * FAULT_BYTES)

    @classmethod
    def claim(cls, run_dir: str) -> RankFolder:
        """Make this process's folder: named by its rank, else by the first number that is free."""
        ranks = os.path.join(run_dir, "ranks")
        os.makedirs(ranks, exist_ok=True)
        for name in _names(process.rank()):
            path = os.path.join(ranks, name)
            try:
                os.mkdir(path)
            except FileExistsError:
                continue
            return cls(path)
        raise AssertionError

    def write_spans(self, queue: collections.deque[Span]) -> int:
        """Move what is queued now to disk; returns the number of spans."""
        with self._lock:
            spans = [queue.popleft() for _ in range(len(queue))]
            if spans:
                self._spans.write(_words(spans))
                if self._spans.is_rolling:
                    self._write_minute(self._minute.add(spans))
        return len(spans)

    def write_device(self, queue: collections.deque[Record]) -> None:
        """Move what was read of the device's clock to disk; the file is made with the first of it."""
        with self._lock:
            records = [queue.popleft() for _ in range(len(queue))]
            if records:
                self._device = self._device or RollingFile(self, DEVICE_FILE)
                self._device.write(_words(records))

    def _write_minute(self, record: tuple[int, ...] | None) -> None:
        if record is not None:
            minutes = self.open(MINUTES_FILE)
            self.write(minutes, _words([record]))
            self.close(minutes)

    def fault(self, error: BaseException) -> None:
        """Write the agent's own fault into the reserved file; needs no free disk space."""
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        try:
            if os.fstat(self._fault).st_ino == self._inodes[self._fault]:
                os.pwrite(self._fault, text.encode("utf-8", "replace")[-FAULT_BYTES:].ljust(FAULT_BYTES), 0)
        except OSError:
            return

    def worker_path(self, loader: int, worker: int | str) -> str:
        """Where a worker of a loader writes; the same for the workers of all epochs."""
        return os.path.join(self.path, WORKERS_FOLDER, f"{loader}-{worker}")


class WorkerFolder(RecordFolder):
    """Where one loader worker, or a training process that loads by itself, writes."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._batches = RollingFile(self, BATCHES_FILE)

    def write_batches(self, batches: Iterable[tuple[int, ...]]) -> None:
        """Append batch records, as laid out in `format`."""
        self._batches.write(_words(batches))


def _names(rank: int | None) -> Iterator[str]:
    if rank is None:
        yield from (str(free) for free in itertools.count())
    yield str(rank)
    yield from (f"{rank}.{again}" for again in itertools.count(1))


def _words(records: Iterable[tuple[int, ...]]) -> bytes:
    return array.array("q", itertools.chain.from_iterable(records)).tobytes()
