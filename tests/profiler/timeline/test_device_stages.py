"""Stages by the device's clock: right although the host runs ahead, and never more than the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.device_stages import DeviceStages, device_stages
from trainrx.profiler.timeline.stages import STAGES, stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Stage

MS = 1_000_000
WORK = ((layout.FORWARD, 3), (layout.BACKWARD, 6), (layout.OPTIMIZER, 2))


class Loop:
    """A training loop on a fake device, written down as the agent would."""

    def __init__(self, cuda: Any, offset_ns: int = -123_456_789) -> None:
        self.cuda, self.offset = cuda, offset_ns
        self.spans: list[tuple[int, int, int, int]] = []
        self.device: list[tuple[int, int, int, int, int]] = []

    def step(
        self,
        *,
        data_ms: float = 0.0,
        host_ms: float = 0.0,
        loss_ms: float = 0.0,
        copy_ms: float = 0.0,
        launch_ms: float = 1.0,
        syncs: bool = False,
        is_timed: bool = True,
    ) -> None:
        cuda, begun = self.cuda, self.cuda.host_ns
        cuda.host_ns += int(data_ms * MS)
        self.spans.append((layout.DATA_WAIT, begun, cuda.host_ns, 1))
        if is_timed:
            at = max(cuda.host_ns, cuda.free_ns) + self.offset
            self.device.append((layout.DATA_WAIT, cuda.host_ns, cuda.host_ns, at, at))
        cuda.launch(int(copy_ms * MS))
        for code, work in WORK:
            start, device_start = cuda.host_ns, max(cuda.host_ns, cuda.free_ns)
            cuda.launch(int(work * MS))
            cuda.host_ns += int(launch_ms * MS)
            device_end = max(cuda.host_ns, cuda.free_ns)
            self.spans.append((code, start, cuda.host_ns, 0))
            if is_timed:
                self.device.append(
                    (code, start, cuda.host_ns, device_start + self.offset, device_end + self.offset)
                )
            if code == layout.FORWARD:
                cuda.launch(int(loss_ms * MS))
        if syncs:
            cuda.wait()
        cuda.host_ns += int(host_ms * MS)
        self.spans.append((layout.STEP, begun, cuda.host_ns, 1))

    def laid_out(self, make_recording: Any, **facts: Any) -> tuple[Any, Any, DeviceStages | None]:
        recording = make_recording(self.spans, device=self.device, facts=facts)
        steps = find_steps(recording, warmup=2)
        stages = stage_times(recording, steps)
        return steps, stages, device_stages(recording, steps, stages)


def ms_per_step(found: DeviceStages, steps: Any) -> dict[Stage, float]:
    per_step = found.exposed.per_step(steps.timed & found.measured)
    return {stage: round(seconds * 1e3, 3) for stage, seconds in per_step.items() if seconds > 1e-9}


def test_a_host_that_waits_for_its_device_is_not_called_host_time(
    make_recording: Any, fake_cuda: Any
) -> None:
    # GIVEN steps in which the host launches for 3 ms and then waits for 8 ms, in a line of its own
    loop = Loop(fake_cuda)
    for _ in range(20):
        loop.step(syncs=True)
    steps, stages, found = loop.laid_out(make_recording)
    assert stages.per_step(steps.timed)[Stage.HOST] * 1e3 == pytest.approx(8)
    # WHEN laid out by the device's clock THEN its stages are what it worked for
    assert found is not None
    assert ms_per_step(found, steps) == {Stage.FORWARD: 3, Stage.BACKWARD: 6, Stage.OPTIMIZER: 2}
    assert found.lead_s * 1e3 == pytest.approx(7)


def test_what_the_device_waits_for_keeps_the_hosts_name(make_recording: Any, fake_cuda: Any) -> None:
    loop = Loop(fake_cuda)
    for _ in range(20):
        loop.step(data_ms=4, host_ms=2.5, syncs=True)
    steps, _, found = loop.laid_out(make_recording)
    assert found is not None
    assert ms_per_step(found, steps) == {
        Stage.DATA_WAIT: 4, Stage.FORWARD: 3, Stage.BACKWARD: 6, Stage.OPTIMIZER: 2, Stage.HOST: 2.5,
    }  # fmt: skip
    # AND only at those times is a line of the host's exposed
    labels = {STAGES[label] for label in found.exposed.segments.labels.tolist() if label >= 0}
    assert labels == {Stage.DATA_WAIT, Stage.HOST}


def test_host_time_behind_which_the_device_works_costs_nothing(make_recording: Any, fake_cuda: Any) -> None:
    # GIVEN 6 ms of loading and Python in each step, and a device that is always behind
    loop = Loop(fake_cuda)
    for _ in range(30):
        loop.step(data_ms=2, host_ms=4)
    steps, _, found = loop.laid_out(make_recording)
    assert found is not None
    seen = ms_per_step(found, steps)
    assert seen.get(Stage.DATA_WAIT, 0) + seen.get(Stage.HOST, 0) < 0.01
    assert seen[Stage.BACKWARD] == pytest.approx(6, abs=0.01)


def test_work_between_the_stages_is_told_apart(make_recording: Any, fake_cuda: Any) -> None:
    loop = Loop(fake_cuda)
    for _ in range(20):
        loop.step(loss_ms=2, syncs=True)
    steps, _, found = loop.laid_out(make_recording)
    assert found is not None
    info = found.info(steps)
    assert info is not None and info.between_s * 1e3 == pytest.approx(2)
    assert {share.name: round(share.seconds_per_step * 1e3) for share in info.stages} == {
        Stage.FORWARD: 3, Stage.BACKWARD: 6, Stage.OPTIMIZER: 2,
    }  # fmt: skip
    assert sum(share.share for share in info.stages) + info.between_share == pytest.approx(1)


def test_copies_of_batches_are_what_is_worked_off_after_a_fetch(make_recording: Any, fake_cuda: Any) -> None:
    # GIVEN copies of 5 ms that nobody waits for, and a loss of 2 ms
    loop = Loop(fake_cuda)
    for _ in range(20):
        loop.step(copy_ms=5, loss_ms=2, data_ms=1, syncs=True)
    # WHEN the loader is known to give batches of the host's
    steps, _, found = loop.laid_out(make_recording, batch=[{"loader": 1, "bytes": 4096}])
    assert found is not None
    seen = ms_per_step(found, steps)
    assert (seen[Stage.H2D], seen[Stage.FORWARD], seen[Stage.DATA_WAIT]) == (5, 3 + 2, 1)
    assert found.waits_s[steps.timed].mean() * 1e3 == pytest.approx(1)
    # WHEN nothing is known of batches THEN it is work between the stages
    steps, _, found = loop.laid_out(make_recording)
    assert found is not None
    assert found.between_s[steps.timed].mean() * 1e3 == pytest.approx(7)


def test_steps_that_were_left_out_are_not_counted(make_recording: Any, fake_cuda: Any) -> None:
    loop = Loop(fake_cuda)
    for number in range(24):
        loop.step(syncs=True, is_timed=number % 12 < 6)
    steps, _, found = loop.laid_out(make_recording)
    assert found is not None
    assert np.flatnonzero(found.measured).tolist() == [*range(1, 6), *range(13, 18)]
    assert ms_per_step(found, steps)[Stage.BACKWARD] == 6


@pytest.mark.parametrize("drift", [-5e-5, 0.0, 5e-5])
def test_clocks_that_run_apart_are_put_in_line(make_recording: Any, fake_cuda: Any, drift: float) -> None:
    # GIVEN a device whose clock is 50 parts in a million off, over minutes in which it is idle now and then
    loop = Loop(fake_cuda)
    for number in range(300):
        loop.step(data_ms=4, host_ms=500.0 if number % 7 == 0 else 1.0, syncs=True)
    origin = loop.device[0][3]
    loop.device = [
        (code, start, end, *(round(at + drift * (at - origin)) for at in moments))
        for code, start, end, *moments in loop.device
    ]
    steps, _, found = loop.laid_out(make_recording)
    assert found is not None and found.lead_s * 1e3 == pytest.approx(7, abs=0.1)
    assert ms_per_step(found, steps)[Stage.DATA_WAIT] == pytest.approx(4, abs=0.1)


@settings(max_examples=40, deadline=None)
@given(
    shapes=st.lists(
        st.tuples(st.floats(0, 8), st.floats(0, 8), st.floats(0, 3), st.floats(0.01, 5), st.booleans()),
        min_size=4,
        max_size=30,
    )
)
def test_a_step_is_its_stages_and_steps_sum_to_the_devices_time(
    make_recording: Any, shapes: list[tuple[float, float, float, float, bool]]
) -> None:
    from types import SimpleNamespace

    cuda = SimpleNamespace(host_ns=10**9, free_ns=0)
    cuda.launch = lambda work: setattr(cuda, "free_ns", max(cuda.free_ns, cuda.host_ns) + work)
    cuda.wait = lambda: setattr(cuda, "host_ns", max(cuda.host_ns, cuda.free_ns))
    loop = Loop(cuda)
    for data, host, loss, launch, syncs in shapes:
        loop.step(data_ms=data, host_ms=host, loss_ms=loss, launch_ms=launch, syncs=syncs)
    _, _, found = loop.laid_out(make_recording)
    assert found is not None
    ends = [row[4] for row in loop.device if row[0] == layout.OPTIMIZER]
    assert found.exposed.seconds[1:].sum() * 1e9 == pytest.approx(ends[-1] - ends[0], abs=len(shapes))
    assert (found.exposed.seconds >= 0).all()


def test_without_a_device_there_is_nothing(make_recording: Any, fake_cuda: Any) -> None:
    loop = Loop(fake_cuda)
    for _ in range(5):
        loop.step(is_timed=False)
    assert loop.laid_out(make_recording)[2] is None
