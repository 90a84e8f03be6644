"""What-ifs on simulated runs whose changed length is known."""

from __future__ import annotations

import pytest

from trainrx.advisor.predict.building import build_graph
from trainrx.advisor.predict.whatif import (
    Replayer,
    communication_overlapped,
    copies_overlapped,
    data_wait_removed,
    host_syncs_removed,
    kernels_scaled,
    launch_cost_removed,
)
from trainrx.profiler.timeline.kernels import KernelKind

HALF_MATMUL = kernels_scaled(KernelKind.MATMUL, 0.5)
TOLERANCE = 0.01


def predicted(machine, change):
    step = Replayer(build_graph(machine.trace())).predict(change)
    assert step.unexplained_share == pytest.approx(0, abs=1e-9)
    assert step.bound_step_s <= step.predicted_step_s
    return step


def total_s(machine):
    return machine.done_ns * 1e-9


def test_half_kernels_do_not_help_a_launch_bound_run(simulation):
    # GIVEN kernels that are done long before the next is launched
    do = simulation.Do
    machine = simulation.run([do("op", host_us=50, device_us=10)] * 100)
    # WHEN every kernel takes half as long
    step = predicted(machine, HALF_MATMUL)
    # THEN nearly nothing changes
    assert step.predicted_step_s == pytest.approx(step.measured_step_s, rel=TOLERANCE)


def test_free_launches_turn_a_launch_bound_run_into_a_device_bound_one(simulation):
    do = simulation.Do
    machine = simulation.run([do("op", host_us=50, device_us=10)] * 100)
    step = predicted(machine, launch_cost_removed())
    assert step.predicted_step_s == pytest.approx(100 * 11e-6, rel=0.02)


def test_half_kernels_halve_a_device_bound_run(simulation):
    do = simulation.Do
    program = [do("op", host_us=5, device_us=200)] * 100
    step = predicted(simulation.run(program), HALF_MATMUL)
    truth = simulation.run(simulation.scaled(program, "matmul", 0.5))
    assert step.predicted_step_s == pytest.approx(total_s(truth), rel=TOLERANCE)


def test_free_launches_do_not_help_a_device_bound_run(simulation):
    do = simulation.Do
    machine = simulation.run([do("op", host_us=5, device_us=200)] * 100)
    step = predicted(machine, launch_cost_removed())
    assert step.predicted_step_s == pytest.approx(step.measured_step_s, rel=TOLERANCE)


def test_half_kernels_shorten_the_waits_of_a_sync_bound_run(simulation):
    do = simulation.Do
    program = [do("op", host_us=20, device_us=300), do("sync")] * 50
    step = predicted(simulation.run(program), HALF_MATMUL)
    truth = simulation.run(simulation.scaled(program, "matmul", 0.5))
    assert step.predicted_step_s == pytest.approx(total_s(truth), rel=0.02)


def test_without_syncs_host_and_device_overlap(simulation):
    do = simulation.Do
    program = [do("op", host_us=100, device_us=100), do("sync")] * 50
    step = predicted(simulation.run(program), host_syncs_removed())
    truth = simulation.run(simulation.without(program, "sync"))
    assert step.predicted_step_s == pytest.approx(total_s(truth), rel=0.02)


def test_a_data_bound_run_loses_its_data_wait(simulation):
    do = simulation.Do
    program = [do("load", host_us=5000), *[do("op", host_us=20, device_us=30)] * 20, do("sync")] * 5
    step = predicted(simulation.run(program), data_wait_removed())
    truth = simulation.run(simulation.without(program, "load"))
    assert step.predicted_step_s == pytest.approx(total_s(truth), rel=TOLERANCE)


def test_data_wait_behind_a_busy_device_is_not_promised(simulation):
    # GIVEN a loader that works while the device still has a backlog
    do = simulation.Do
    program = [do("load", host_us=500), *[do("op", host_us=5, device_us=100)] * 20] * 10
    step = predicted(simulation.run(program), data_wait_removed())
    # THEN at most the first batch, before anything is launched, is won
    assert step.measured_step_s - step.predicted_step_s <= 0.00051


def test_communication_between_computation_is_hidden(simulation):
    # GIVEN computation that waits for a collective, which waits for computation
    do = simulation.Do
    once = [
        do("op", host_us=5, device_us=400),
        do("wait", stream=20, of=7),
        do("op", host_us=5, device_us=150, kind="communication", stream=20),
        do("wait", stream=7, of=20),
    ]
    machine = simulation.run([*once * 20, do("op", host_us=5, device_us=400)])
    step = predicted(machine, communication_overlapped())
    # THEN what remains is computation, and the gaps
    assert step.predicted_step_s == pytest.approx(21 * 402e-6, rel=0.02)
    half = predicted(machine, kernels_scaled(KernelKind.COMMUNICATION, 0.5))
    assert half.measured_step_s - half.predicted_step_s == pytest.approx(20 * 75e-6, rel=0.02)


def test_more_communication_than_computation_cannot_be_hidden(simulation):
    do = simulation.Do
    once = [
        do("op", host_us=5, device_us=100),
        do("wait", stream=20, of=7),
        do("op", host_us=5, device_us=400, kind="communication", stream=20),
        do("wait", stream=7, of=20),
    ]
    step = predicted(simulation.run(once * 20), communication_overlapped())
    assert step.predicted_step_s >= 20 * 400e-6
    assert step.predicted_step_s > step.bound_step_s


def test_communication_that_is_hidden_already_saves_nothing(simulation):
    do = simulation.Do
    once = [
        do("op", host_us=5, device_us=400),
        do("op", host_us=5, device_us=100, kind="communication", stream=20),
    ]
    step = predicted(simulation.run(once * 20), communication_overlapped())
    assert step.predicted_step_s == pytest.approx(step.measured_step_s, rel=TOLERANCE)


def test_blocking_uploads_are_overlapped(simulation):
    do = simulation.Do
    once = [do("op", host_us=5, device_us=300, kind="copy", blocks=True), do("op", host_us=5, device_us=500)]
    step = predicted(simulation.run(once * 20), copies_overlapped())
    assert step.predicted_step_s == pytest.approx(20 * 501e-6, rel=0.02)


def test_the_backward_thread_is_waited_for(simulation):
    # GIVEN a backward pass on the engine's own thread, launch-bound, and a host that waits for it
    do = simulation.Do
    once = [
        *[do("op", host_us=40, device_us=5)] * 10,
        do("backward", host_us=30),
        *[do("op", host_us=40, device_us=5)] * 20,
        do("resume", host_us=30),
    ]
    machine = simulation.run(once * 5)
    step = predicted(machine, launch_cost_removed())
    # THEN free operators shorten both threads: handovers and the device remain
    assert step.predicted_step_s < 0.35 * step.measured_step_s


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_a_senseless_factor_is_refused(factor):
    with pytest.raises(ValueError, match="factor of 0 or more"):
        kernels_scaled(KernelKind.MATMUL, factor)
