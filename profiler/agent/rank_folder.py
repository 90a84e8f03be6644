"""The folder of one rank: append-only files, readable after ``kill -9``.

Writes go straight to file descriptors; nothing is held back in Python buffers. A full or read-only disk raises here
and the caller switches the agent off; the reserved ``fault`` file can still be overwritten then.
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
from .format import FACTS_FILE, FAULT_BYTES, FAULT_FILE, SAMPLES_FILE, SPANS_FILE

if TYPE_CHECKING:
    import collections
    from collections.abc import Iterable

    from .recorder import Span

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class RankFolder:
    """Where one training process writes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.bytes_written = 0
        self._lock = threading.Lock()
        self._fault = os.open(os.path.join(path, FAULT_FILE), os.O_WRONLY | os.O_CREAT, 0o644)
        os.write(self._fault, b" " * FAULT_BYTES)
        self._facts = os.open(os.path.join(path, FACTS_FILE), _APPEND, 0o644)
        self._spans = os.open(os.path.join(path, SPANS_FILE), _APPEND, 0o644)
        self._samples = os.open(os.path.join(path, SAMPLES_FILE), _APPEND, 0o644)
        files = (self._fault, self._facts, self._spans, self._samples)
        self._inodes = {descriptor: os.fstat(descriptor).st_ino for descriptor in files}

    @classmethod
    def claim(cls, run_dir: str) -> RankFolder:
        """Make this process's folder: named by its rank, else by the first number that is free."""
        ranks = os.path.join(run_dir, "ranks")
        os.makedirs(ranks, exist_ok=True)
        number = process.rank()
        names = (
            (str(free) for free in itertools.count())
            if number is None
            else itertools.chain((str(number),), (f"{number}.{again}" for again in itertools.count(1)))
        )
        for name in names:
            path = os.path.join(ranks, name)
            try:
                os.mkdir(path)
            except FileExistsError:
                continue
            return cls(path)
        raise AssertionError

    def fact(self, fact: str, **values: Any) -> None:
        """Append one line to ``facts.jsonl``."""
        line = json.dumps({"t": time.perf_counter_ns(), "fact": fact, **values}, default=str)
        self._write(self._facts, line.encode("utf-8", "replace") + b"\n")

    def write_spans(self, queue: collections.deque[Span]) -> int:
        """Move what is queued now to disk; returns the number of spans."""
        with self._lock:
            spans = [queue.popleft() for _ in range(len(queue))]
            if spans:
                self._write(self._spans, array.array("q", itertools.chain.from_iterable(spans)).tobytes())
        return len(spans)

    def write_samples(self, samples: Iterable[tuple[int, int]]) -> None:
        """Append stack samples ``(time_ns, stack)``."""
        self._write(self._samples, array.array("q", itertools.chain.from_iterable(samples)).tobytes())

    def fault(self, error: BaseException) -> None:
        """Write the agent's own fault into the reserved file; needs no free disk space."""
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        try:
            if os.fstat(self._fault).st_ino == self._inodes[self._fault]:
                os.pwrite(self._fault, text.encode("utf-8", "replace")[-FAULT_BYTES:].ljust(FAULT_BYTES), 0)
        except OSError:
            return

    def _write(self, descriptor: int, data: bytes) -> None:
        if os.fstat(descriptor).st_ino != self._inodes[descriptor]:
            raise OSError(
                "the script closed the recorder's files"
            )  # and the number may be a file of its own by now
        written = os.write(descriptor, data)
        if written != len(data):
            raise OSError(f"only {written} of {len(data)} bytes could be written: the disk is full")
        self.bytes_written += written
