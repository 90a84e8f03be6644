"""Samples of stacks, taken so that they can never make two threads wait for each other."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

from trainrx.profiler.agent import sampler


def test_no_garbage_is_collected_while_the_list_of_threads_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a way to see whether the collector is on while frames are taken
    was_on: list[bool] = []
    original = sys._current_frames
    monkeypatch.setattr(sys, "_current_frames", lambda: (was_on.append(gc.isenabled()), original())[1])
    # WHEN a sample is taken THEN it is off, and on again after
    assert sampler.stack_of(threading.get_ident())
    assert was_on == [not sampler._COLLECTS_AT_ONCE]
    assert gc.isenabled()


def test_a_script_that_has_switched_its_collector_off_keeps_it_off() -> None:
    was = gc.isenabled()
    gc.disable()
    try:
        assert sampler.stack_of(threading.get_ident())
        assert not gc.isenabled()
    finally:
        (gc.enable if was else gc.disable)()


def test_a_fault_leaves_the_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def boom() -> None:
        raise MemoryError

    monkeypatch.setattr(sys, "_current_frames", boom)
    with pytest.raises(MemoryError):
        sampler.stack_of(threading.get_ident())
    assert gc.isenabled()


@pytest.mark.parametrize("interval_s", [0.005, 0.0005, 1e-5, 0.000123])
def test_no_thread_asks_for_the_lock_while_frames_are_held(
    monkeypatch: pytest.MonkeyPatch, interval_s: float
) -> None:
    # GIVEN a script with some interval
    before, seen = sys.getswitchinterval(), list[float]()
    original = sys._current_frames
    monkeypatch.setattr(sys, "_current_frames", lambda: (seen.append(sys.getswitchinterval()), original())[1])
    sys.setswitchinterval(interval_s)
    was = sys.getswitchinterval()
    try:
        # WHEN many samples are taken THEN the interval is long in each, and the script's own again after
        for _ in range(10):
            sampler.stack_of(threading.get_ident())
        assert seen == pytest.approx([sampler.UNDISTURBED_S] * 10)
        assert sys.getswitchinterval() == was
    finally:
        sys.setswitchinterval(before)


def test_a_thread_that_is_not_there_has_no_stack() -> None:
    assert sampler.stack_of(-1) == []


STARTS_THREADS = """
    import gc, sys, threading, time
    from trainrx.profiler.agent.sampler import stack_of

    main = threading.get_ident()
    gc.set_threshold(1)
    gc.callbacks.append(lambda phase, info: time.sleep(0))
    end = time.monotonic() + 1.0

    def sample():
        while time.monotonic() < end:
            stack_of(main)
            time.sleep(0)

    def deep(n):
        return n and deep(n - 1)

    def start(n):
        if n:
            return start(n - 1)
        thread = threading.Thread(target=deep, args=(50,))
        thread.start()
        return thread

    threading.Thread(target=sample).start()
    while time.monotonic() < end:
        start(30).join()
    print("done")
"""


def test_a_thread_that_starts_others_goes_on(write_script, run_plain) -> None:
    # GIVEN a script that starts threads while a busy collector calls Python; without care this hangs within a moment
    assert run_plain(write_script(STARTS_THREADS)).stdout == "done\n"


COMING_AND_GOING = """
    import sys, threading, time
    import torch
    from trainrx.profiler.agent import sampler

    sys.setswitchinterval(1e-5)
    main, is_over = threading.get_ident(), False

    def watch():
        while not is_over:
            sampler.stack_of(main)
            time.sleep(0)

    def numbers():
        yield from range(5)

    def deep(depth):
        return deep(depth - 1) if depth else sum(numbers())

    watcher = threading.Thread(target=watch)
    watcher.start()
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    end = time.monotonic() + 5
    while time.monotonic() < end:
        for _ in range(50):
            deep(6)
            exec("one = 1")
            try:
                raise ValueError
            except ValueError:
                pass
        optimizer.zero_grad()
        model(torch.ones(4, 8)).sum().backward()
        optimizer.step()
    is_over = True
    watcher.join()
    print("sound")
"""


def test_frames_may_come_and_go_while_they_are_looked_at(write_script, run_plain) -> None:
    # GIVEN a thread whose frames end and begin all the time, and another one that looks at them as fast as it can
    done = run_plain(write_script(COMING_AND_GOING))
    # THEN neither is hurt
    assert done.stdout == "sound\n"
