"""Events on a device that is none: read when they have passed, never waited for, left alone where they may not be."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent import device_clock
from trainrx.profiler.agent.device_clock import DeviceClock
from trainrx.profiler.agent.format import BACKWARD, FORWARD, OPTIMIZER

MS = 1_000_000
Record = tuple[int, int, int, int, int]


class Recorder:
    """Takes notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.device_memory = SimpleNamespace(starts=lambda cuda: None)

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def started(fake_cuda: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Torch with the fake device; the agent's clock is the fake host's."""
    version = SimpleNamespace(cuda="13.0", hip=None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=fake_cuda, version=version))
    monkeypatch.setattr(device_clock, "now", lambda: fake_cuda.host_ns)
    return fake_cuda


def stage(clock: DeviceClock, cuda: Any, code: int, *, host_ns: int, work_ns: int) -> None:
    start = cuda.host_ns
    begun = clock.begin() if clock.is_on else None
    cuda.launch(work_ns)
    cuda.host_ns += host_ns
    if begun is not None:
        clock.end(code, start, cuda.host_ns, begun)


def train(clock: DeviceClock, cuda: Any, steps: int, *, syncs: bool = True) -> list[Record]:
    """Steps of 1 ms of launching each stage; the device works 3, 6 and 2 ms."""
    for _ in range(steps):
        for code, work in ((FORWARD, 3), (BACKWARD, 6), (OPTIMIZER, 2)):
            stage(clock, cuda, code, host_ns=MS, work_ns=work * MS)
        if syncs:
            cuda.wait()
        clock.at_step(counts=True)
    return list(clock.records)


def test_the_device_is_timed_though_the_host_ran_ahead(started: Any) -> None:
    recorder = Recorder()
    records = train(DeviceClock(recorder), started, 20)  # type: ignore[arg-type]
    assert len(records) == 3 * (20 - device_clock.FIRST_STEPS)
    lengths = {code: end - start for code, _, _, start, end in records}
    assert lengths == {FORWARD: 3 * MS, BACKWARD: 6 * MS, OPTIMIZER: 2 * MS}
    assert all(end - start == MS for _, start, end, _, _ in records)
    assert not recorder.notes


def test_what_has_not_passed_is_asked_again_later_and_events_are_used_again(started: Any) -> None:
    # GIVEN a device that is ever further behind
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    train(clock, started, 10, syncs=False)
    seen = len(clock.records)
    # WHEN it catches up THEN everything is there, in order
    started.wait()
    clock.close()
    moments = [start for _, _, _, start, _ in clock.records]
    assert seen < len(moments) == 3 * (10 - device_clock.FIRST_STEPS)
    assert moments == sorted(moments)
    made = started.made
    train(clock, started, 10)
    assert started.made <= made + 6


def test_a_device_that_never_catches_up_uses_no_more_events_than_there_are(started: Any) -> None:
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    train(clock, started, 400, syncs=False)
    assert started.made == device_clock.MAX_EVENTS


def test_nothing_is_recorded_or_asked_while_a_graph_is_captured(started: Any) -> None:
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    train(clock, started, 8)
    before = started.recorded
    started.is_capturing = True
    train(clock, started, 3, syncs=False)  # the fake fails at any touch
    started.is_capturing = False
    assert started.recorded == before and clock.is_on
    train(clock, started, 3)
    assert started.recorded > before


def test_a_capture_that_begins_within_a_stage_loses_that_stage_alone(started: Any) -> None:
    recorder = Recorder()
    clock = DeviceClock(recorder)  # type: ignore[arg-type]
    before = len(train(clock, started, 8))
    begun = clock.begin()
    started.is_capturing = True
    clock.end(FORWARD, 0, 1, begun)
    started.is_capturing = False
    assert len(train(clock, started, 1)) == before + 3
    assert not recorder.notes


def test_without_cuda_nothing_happens(started: Any) -> None:
    started.is_started = False
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    assert not train(clock, started, 5) and not clock.is_on and not started.made
    # AND it is asked again, for a script may start CUDA late, unless torch has none
    assert clock.may_start
    sys.modules["torch"].version.cuda = None
    train(clock, started, 1)
    assert not clock.may_start


@pytest.mark.parametrize("fault", ["Event", "record", "query", "elapsed_time", "is_current_stream_capturing"])
def test_a_fault_ends_this_timing_with_a_note(started: Any, fault: str) -> None:
    recorder = Recorder()
    clock = DeviceClock(recorder)  # type: ignore[arg-type]
    started.fault = fault
    train(clock, started, 10)
    assert recorder.notes == [f"stages were not timed on the device: RuntimeError('CUDA error in {fault}')"]
    assert not clock.is_on
    started.fault = None
    recorded = started.recorded
    train(clock, started, 10)
    assert started.recorded == recorded and len(recorder.notes) == 1


def test_steps_are_left_out_where_timing_costs_too_much(
    started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a device on which recording an event takes the host 0.1 ms, of steps of 11 ms
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    monkeypatch.setattr(
        type(started),
        "is_current_stream_capturing",
        lambda cuda: setattr(cuda, "host_ns", cuda.host_ns + MS // 10),
    )
    # WHEN it trains for long THEN the cost keeps near the budget
    train(clock, started, 1000)
    timed = len(clock.records) / 3
    cost = started.recorded * MS / 10
    assert 0 < timed < 200
    assert cost / started.host_ns < 2 * device_clock.BUDGET


def test_a_traced_step_is_not_timed(started: Any) -> None:
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    train(clock, started, 5)
    clock.at_step(counts=False)
    assert not clock.is_on


def test_a_forked_child_keeps_the_parents_events_untouched(started: Any) -> None:
    clock = DeviceClock(Recorder())  # type: ignore[arg-type]
    train(clock, started, 5, syncs=False)
    clock.leave_to_parent()
    held = device_clock._PARENTS.pop()
    assert sum(len(part) for part in held[:2]) > 0
