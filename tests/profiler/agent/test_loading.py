"""What measures a loader's worker: a fault of its own ends it in silence, and it costs little."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from trainrx.profiler.agent import loading, memory
from trainrx.profiler.agent.loading import MEMORY_BUDGET, BatchProbe
from trainrx.profiler.agent.rank_folder import WorkerFolder


def test_a_fault_beside_a_worker_ends_the_measuring_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # GIVEN a worker whose stack cannot be sampled
    def broken(self: Any, thread: int) -> None:
        raise RuntimeError("no frame")

    monkeypatch.setattr(loading.StackSampler, "sample", broken)
    before, probe = set(threading.enumerate()), BatchProbe(WorkerFolder(str(tmp_path)))
    assert torch.get_num_threads()
    # WHEN it is watched
    probe.start_worker(0.0)
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=10)
    # THEN the probe is off, and nobody hears of it
    assert not probe.is_on
    assert capfd.readouterr() == ("", "")


def test_memory_that_takes_long_to_read_is_read_the_more_rarely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a worker of so much memory that a reading takes 50 ms
    clock = [0]
    cost_ns = 50_000_000

    def private() -> dict[str, int]:
        clock[0] += cost_ns
        return {}

    monkeypatch.setattr(loading, "now", lambda: clock[0])
    monkeypatch.setattr(memory, "private", private)
    probe = BatchProbe(WorkerFolder(str(tmp_path)))
    # WHEN it is asked for ten times a second
    readings = 0
    for _ in range(1000):
        clock[0] += 100_000_000
        before = clock[0]
        probe._read_memory(clock[0])
        readings += clock[0] > before
    # THEN that takes no more of the time than it may, but for the first reading
    assert 2 < readings <= 1 + MEMORY_BUDGET * clock[0] / cost_ns
