"""What measures a loader's worker: a fault of its own ends it in silence, and it costs little."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from trainrx.profiler.agent import loading, memory
from trainrx.profiler.agent.format import LOADER_KEY
from trainrx.profiler.agent.hooks.loader import _workers_write_to
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


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_of_each_loader_write_to_a_place_of_their_own(method: str) -> None:
    # GIVEN two loaders whose workers start in the same way, perhaps from one server that is older than the second
    context: Any = multiprocessing.get_context(method)
    here, there = context.Pipe()
    folder = SimpleNamespace(worker_path=lambda number, worker: f"workers/{number}-{worker}")
    told: list[str] = []
    look = "import multiprocessing as m; there.send(m.current_process()._config.get(key))"
    for number in (1, 2):
        # WHEN one starts a worker
        with _workers_write_to(SimpleNamespace(folder=folder), number):  # type: ignore[arg-type]
            worker = context.Process(target=exec, args=(look, {"there": there, "key": LOADER_KEY}))
            worker.start()
        told.append(here.recv())
        worker.join()
    # THEN each is told its own loader's place, and later children none
    assert told == ["workers/1-{worker}", "workers/2-{worker}"]
    assert LOADER_KEY not in context.Process(target=print)._config
