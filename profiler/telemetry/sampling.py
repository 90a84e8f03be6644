"""Samples the sources beside a run and appends them to ``telemetry.jsonl`` in its folder.

The file is one JSON object a line: first ``{"t", "absent": {source: reason}}``, then per sample ``{"t", "cpu_s",
source: reading}``, where ``cpu_s`` is what sampling itself has cost so far. ``t`` is ``time.perf_counter_ns``, the same
clock as the recorder's. The file grows with the logarithm of time: each time another `BYTES_PER_RATE` is full, samples
come half as often. They come less often too where a sample of a large process tree costs more than `CPU_BUDGET` allows.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from .host import HostSource
from .nvml import NvmlSource
from .source import Source

TELEMETRY_FILE = "telemetry.jsonl"
INTERVAL_S = 0.5
BYTES_PER_RATE = 4 * 1024 * 1024
#: Sampling may take this share of one core.
CPU_BUDGET = 0.002
#: The process tree is looked for anew once in so many samples: that reads every process of the machine.
TREE_EVERY = 10
JOIN_S = 2.0


class TelemetryWriter:
    """Takes samples and writes them; a fault or a full disk ends the telemetry and nothing else."""

    def __init__(self, path: Path, root_pid: int, sources: Sequence[Source]) -> None:
        self._path = path
        self._root_pid = root_pid
        self._sources = sources
        self._pids: list[int] = []
        self._count = 0
        self._cpu_s = 0.0
        self._bytes = 0

    @property
    def interval_s(self) -> float:
        """Seconds to the next sample, by how much is written and what samples cost."""
        by_size = INTERVAL_S * 2.0 ** (self._bytes // BYTES_PER_RATE)
        return max(by_size, self._cpu_s / max(self._count, 1) / CPU_BUDGET)

    def begin(self) -> None:
        """Write what cannot be read on this machine, and why."""
        self._append({"absent": {s.name: s.absence for s in self._sources if s.absence is not None}})

    def sample(self) -> None:
        """Take and write one sample."""
        before = time.thread_time()
        if self._count % TREE_EVERY == 0:
            self._pids = _tree(self._root_pid)
        self._count += 1
        readings = {
            source.name: source.read(self._pids) for source in self._sources if source.absence is None
        }
        known = {name: reading for name, reading in readings.items() if reading is not None}
        self._cpu_s += time.thread_time() - before
        self._append({"cpu_s": round(self._cpu_s, 5), **known})

    def _append(self, record: dict[str, object]) -> None:
        line = json.dumps({"t": time.perf_counter_ns(), **record}, separators=(",", ":")) + "\n"
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)
        self._bytes += len(line)


@contextmanager
def telemetry_of(
    pid: int, run_dir: Path, sources: Sequence[Source] | None = None
) -> Generator[TelemetryWriter]:
    """Sample beside a process and its descendants, in a thread, while the block runs.

    Args:
        pid: the process at the root of the run.
        run_dir: where the file is written.
        sources: what to read; the host and NVML if left out.
    """
    chosen = [HostSource(), NvmlSource()] if sources is None else sources
    writer = TelemetryWriter(run_dir / TELEMETRY_FILE, pid, chosen)
    over = threading.Event()
    thread = threading.Thread(target=_run, args=(writer, over), name="trainrx-telemetry", daemon=True)
    thread.start()
    try:
        yield writer
    finally:
        over.set()
        thread.join(JOIN_S)
        for source in chosen:
            source.close()


def _run(writer: TelemetryWriter, over: threading.Event) -> None:
    try:
        writer.begin()
        while not over.is_set():
            writer.sample()
            over.wait(writer.interval_s)
    except OSError:
        return


def _tree(pid: int) -> list[int]:
    try:
        root = psutil.Process(pid)
        return [pid, *(child.pid for child in root.children(recursive=True))]
    except psutil.Error:
        return [pid]
