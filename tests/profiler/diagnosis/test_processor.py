"""Threads, small operations and compilation on a CPU."""

from __future__ import annotations

import pytest

from trainrx.profiler.diagnosis import compute, cpu_threads, diagnose, launch_overhead, recompilation
from trainrx.profiler.report import HostTelemetry, LoaderReport, Telemetry, Where, WorkerReport
from trainrx.profiler.timeline.compiled import CompiledModel, Recompilation
from trainrx.profiler.timeline.interruptions import Interruptions
from trainrx.profiler.timeline.process_memory import ProcessMemory
from trainrx.profiler.vocabulary import Activity, Kind, Severity, Stage

MODEL = {Stage.FORWARD: 10.0, Stage.BACKWARD: 20.0}


def loader(workers: int, *, threads: int = 1, busy: float = 0.0) -> LoaderReport:
    return LoaderReport(
        num_workers=workers, batches=40, samples_per_batch=8, sample_wall_s=1e-4, sample_cpu_s=1e-4, collate_wall_s=0,
        collate_cpu_s=0, cpu_share=1.0, worker_threads=threads,
        workers=[WorkerReport(worker=n, batches=10, busy_share=busy, batch_s=0.01) for n in range(workers)],
    )  # fmt: skip


def test_one_thread_beside_idle_cores(observe) -> None:
    found = cpu_threads.find(observe(MODEL, setup={"cpu.threads": 1}, operations_per_step=30))
    assert found is not None and found.cause == "too-few-threads"
    # Amdahl: seven tenths of 30 ms, three quarters of which four cores save
    assert found.ms_per_step == pytest.approx(0.7 * 30 * 0.75)


@pytest.mark.parametrize(
    ("setup", "facts"),
    [
        ({"cpu.threads": 4}, {"operations_per_step": 30}),  # all cores in use
        ({"cpu.threads": 1}, {"operations_per_step": 3000}),  # operations too small to share out
        ({"cpu.threads": 1}, {}),  # nobody counted them
        ({"cpu.threads": 1, "world_size": 4}, {"operations_per_step": 30}),  # the other ranks use the cores
        ({"cpu.threads": 1}, {"operations_per_step": 30, "loader": loader(3, busy=1.0)}),  # so do the workers
        ({"cpu.threads": 1, "device.kind": "cuda"}, {"operations_per_step": 30}),
    ],
)
def test_one_thread_is_right_where_no_core_is_free_for_large_work(observe, setup, facts) -> None:
    found = cpu_threads.find(observe(MODEL, setup=setup, **facts))
    assert found is None


def machine(*, busy: float, own: float) -> Telemetry:
    host = HostTelemetry(cores=4, cores_busy=busy, tree_cores_busy=own)
    return Telemetry(samples=20, interval_s=0.2, host=host)


@pytest.mark.parametrize(
    ("busy", "own", "saved"),
    [
        (1.1, 1.0, 0.75),  # three cores idle
        (3.1, 1.0, 0.5),  # others keep two busy
        (4.0, 1.0, None),  # others keep all of them busy
    ],
)
def test_cores_that_others_keep_busy_are_not_free(
    observe, busy: float, own: float, saved: float | None
) -> None:
    seen = observe(
        MODEL,
        setup={"cpu.threads": 1, "cpu.machine_cores": 4},
        operations_per_step=30,
        telemetry=machine(busy=busy, own=own),
    )
    found = cpu_threads.find(seen)
    assert (None if found is None else found.ms_per_step) == (
        None if saved is None else pytest.approx(0.7 * 30 * saved)
    )


def test_work_on_cores_that_this_run_may_not_use_takes_none_of_its_own(observe) -> None:
    setup = {"cpu.threads": 1, "cpu.machine_cores": 64}
    seen = observe(MODEL, setup=setup, operations_per_step=30, telemetry=machine(busy=50.0, own=1.0))
    assert cpu_threads.find(seen) is not None


def test_a_thread_count_of_the_environment_is_named(observe) -> None:
    seen = observe(MODEL, setup={"cpu.threads": 1, "env.omp_num_threads": 1}, operations_per_step=30)
    found = cpu_threads.find(seen)
    assert found is not None and "OMP_NUM_THREADS=1" in found.summary


def test_more_threads_than_cores(observe) -> None:
    found = cpu_threads.find(observe(MODEL, setup={"cpu.threads": 16}))
    assert found is not None and found.cause == "oversubscribed" and found.severity is Severity.HIGH
    # AND what it costs is an estimate
    assert {fact.basis for fact in found.evidence[:2]} == {"derived"}


def test_threads_of_workers_count_once_the_training_waits_for_cores(observe) -> None:
    crowd = loader(4, threads=8)
    assert cpu_threads.find(observe(MODEL, loader=crowd, core_wait_share=0.01)) is None
    found = cpu_threads.find(observe(MODEL, loader=crowd, core_wait_share=0.5))
    assert found is not None and found.cause == "oversubscribed"
    assert any(fact.name == "threads of loader workers" and fact.value == 32 for fact in found.evidence)


@pytest.mark.parametrize(
    ("threads", "waited", "cause"),
    [(4, 0.5, "oversubscribed"), (4, 0.02, None), (4, None, None), (2, 0.5, None)],
)
def test_threads_of_all_ranks_share_the_cores(
    observe, threads: int, waited: float | None, cause: str | None
) -> None:
    # GIVEN two ranks on four cores; WHEN each has four threads THEN waiting for cores proves that they share them
    setup = {"cpu.threads": threads, "local_world_size": 2}
    found = cpu_threads.find(observe(MODEL, setup=setup, core_wait_share=waited))
    assert (None if found is None else found.cause) == cause
    assert found is None or "4 threads in each of 2 ranks share 4 cores" in found.summary


@pytest.mark.parametrize(
    ("workers", "busy", "waited", "data_wait", "found"),
    [
        (16, 1.0, 0.5, 1.0, True),
        (16, 0.1, 0.5, 1.0, False),  # their queues are full: hardly any of them runs
        (2, 1.0, 0.5, 1.0, False),  # as many workers as PyTorch's own pool of threads usually has beside it
        (16, 1.0, 0.05, 1.0, False),  # the training has its core
        (16, 1.0, 0.5, 30.0, False),  # the loop waits for data: that is the finding
    ],
)
def test_a_crowd_of_single_threads_takes_the_cores_of_the_training(
    observe, workers: int, busy: float, waited: float, data_wait: float, found: bool
) -> None:
    stages = {**MODEL, Stage.DATA_WAIT: data_wait}
    seen = cpu_threads.find(observe(stages, loader=loader(workers, busy=busy), core_wait_share=waited))
    assert (seen is not None and seen.cause == "oversubscribed") is found


def test_many_small_operations_are_no_honest_compute(observe, make_line) -> None:
    # GIVEN 1,500 operations in 30 ms
    seen = observe(MODEL, operations_per_step=1500, lines=(make_line(10, stage=Stage.FORWARD, line=19),))
    # WHEN it is diagnosed
    found = diagnose(seen)
    # THEN dispatch is the headline, at the line of the loop
    assert found[0].kind is Kind.LAUNCH_OVERHEAD and found[0].where[0].line == 19
    assert found[0].ms_per_step == pytest.approx(22.5)


@pytest.mark.parametrize("operations", [None, 50, 300])
def test_few_or_large_operations_are_compute(observe, operations) -> None:
    seen = observe(MODEL, operations_per_step=operations)
    assert launch_overhead.find(seen) is None
    note = compute.find(seen)
    assert note is not None and note.severity is Severity.NOTE


def test_what_the_thread_waited_for_a_core_does_not_make_operations_large(observe) -> None:
    seen = observe(MODEL, operations_per_step=400, core_wait_share=0.5)
    found = launch_overhead.find(seen)
    assert found is not None and found.ms_per_step <= 30


def test_recompilation_takes_its_time_off_the_forward(observe, make_line) -> None:
    line = make_line(8, stage=Stage.FORWARD, line=36, activity=Activity.COMPILING)
    seen = observe(
        MODEL,
        setup={"batch.variable_length": True},
        compilation=Interruptions({Stage.FORWARD: 0.008}, 0.25),
        compiled=CompiledModel(
            recompilations=(
                Recompilation(Where(file="train.py", line=9, function="forward"), "x.size()[0] == 3"),
                Recompilation(Where(file="train.py", line=9, function="forward"), "x.size()[0] == 5"),
            )
        ),
        lines=(line,),
    )
    found = recompilation.find(seen)
    assert found is not None and "its last failed check: x.size()[0] == 5" in found.summary
    assert ("failed check of forward", "x.size()[0] == 5") in [
        (fact.name, fact.value) for fact in found.evidence
    ]
    assert found is not None and found.cause == "changing-shapes" and found.where[0].line == 36
    assert "10 times" in found.summary
    note = compute.find(seen)
    assert note is not None and note.ms_per_step == pytest.approx(22)


def test_no_compilation_in_the_timed_steps_is_no_finding(observe) -> None:
    assert recompilation.find(observe(MODEL)) is None


@pytest.mark.parametrize(
    ("recomputation_s", "used", "setup", "cause"),
    [
        (0.006, 0.2, {}, "needless-recomputation"),
        (0.006, 0.8, {}, "model-compute"),  # the memory is needed
        (0.001, 0.2, {}, "model-compute"),  # too little to matter
        (0.006, None, {}, "model-compute"),  # what is free is not known
        (0.006, 0.2, {"local_world_size": 4}, "model-compute"),  # the other ranks need it
        (0.006, 0.2, {"device.kind": "cuda"}, "model-compute"),  # the memory is not the GPU's
    ],
)
def test_activations_computed_again_are_told_where_memory_is_free(
    observe, recomputation_s: float, used: float | None, setup: dict[str, object], cause: str
) -> None:
    memory = None
    if used is not None:
        memory = ProcessMemory(int(used * 2**33), None, 0.0, limit_bytes=2**33, steps=40)
    found = compute.find(observe(MODEL, setup=setup, recomputation_s=recomputation_s, memory=memory))
    assert found is not None and found.cause == cause and found.severity is Severity.NOTE
