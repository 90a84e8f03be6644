"""Ranks that meet in collectives: who waits for whom decides what a change brings."""

from __future__ import annotations

import pytest

from trainrx.advisor.predict.building import build_graph
from trainrx.advisor.predict.ranks import build_ranks_graph
from trainrx.advisor.predict.whatif import (
    Replayer,
    communication_overlapped,
    kernels_scaled,
    standard_changes,
)
from trainrx.profiler.timeline.kernels import KernelKind

HALF_MATMUL = kernels_scaled(KernelKind.MATMUL, 0.5)


def program(do, compute_us, collective_us, rounds=20):
    once = [
        do("op", host_us=5, device_us=compute_us),
        do("op", host_us=5, device_us=collective_us, kind="communication"),
    ]
    return once * rounds


@pytest.fixture
def traces(simulation):
    """An early rank that waits 200 us in every collective, and the late one; the wire takes 100 us."""
    do = simulation.Do
    return [simulation.run(program(do, *times)).trace() for times in ((100, 300), (300, 100))]


def test_the_joint_replay_reproduces_the_step(traces):
    replayer = Replayer(build_ranks_graph(traces))
    assert replayer.unexplained_share == pytest.approx(0, abs=0.001)
    assert replayer.host_unexplained_share == pytest.approx(0, abs=0.001)


def test_the_late_ranks_computation_decides(traces):
    # GIVEN the early rank alone, whose collectives seem to be long
    alone = Replayer(build_graph(traces[0])).predict(HALF_MATMUL)
    # WHEN both are replayed
    together = Replayer(build_ranks_graph(traces)).predict(HALF_MATMUL)
    # THEN half the late rank's computation is won, not half the early one's
    assert alone.measured_step_s - alone.predicted_step_s == pytest.approx(20 * 50e-6, rel=0.02)
    assert together.measured_step_s - together.predicted_step_s == pytest.approx(20 * 150e-6, rel=0.02)


def test_hidden_communication_still_takes_its_time_on_the_wire(traces):
    step = Replayer(build_ranks_graph(traces)).predict(communication_overlapped())
    assert step.predicted_step_s == pytest.approx(20 * 302e-6 + 100e-6, rel=0.02)


def test_bounds_hold_for_ranks(traces):
    replayer = Replayer(build_ranks_graph(traces))
    for change in standard_changes():
        step = replayer.predict(change)
        assert step.bound_step_s <= step.predicted_step_s <= step.measured_step_s + 1e-9


def test_one_trace_is_its_own_graph(traces):
    assert build_ranks_graph(traces[:1]).measured_ns == build_graph(traces[0]).measured_ns


def test_ranks_without_common_collectives_stand_side_by_side(simulation):
    do = simulation.Do
    runs = [simulation.run([do("op", 5, length)] * 10) for length in (50, 80)]
    graph = build_ranks_graph([run.trace() for run in runs])
    assert graph.measured_ns == max(run.done_ns for run in runs)
