"""The throughput model promises workers only what cores and waiting leave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.advisor.predict.loading import LoadingModel, loading_model
from trainrx.profiler.report import LoaderReport, Report
from trainrx.profiler.vocabulary import Stage


def model(**changes):
    costs = {
        "wall_s": 0.04,
        "cpu_s": 0.04,
        "training_s": 0.01,
        "training_cpu_s": 0.01,
        "cores": 8.0,
    } | changes
    return LoadingModel(**costs)


def test_computing_workers_are_bounded_by_the_cores():
    # GIVEN 40 ms of computing per batch on two cores that the training fills as well
    crowded = model(cores=2.0)

    # THEN no number of workers comes below the CPU seconds of a step on both cores
    assert min(crowded.step(workers).best_s for workers in range(1, 33)) >= 0.97 * 0.025


def test_waiting_workers_are_not():
    # GIVEN batches that only wait for storage
    waiting = model(cpu_s=0.0, cores=2.0)

    # THEN four workers keep pace with the training
    assert waiting.best_workers() in (3, 4)
    assert waiting.step(4).likely_s < 1.2 * waiting.training_s


def test_a_crowd_that_computes_is_slower_than_a_few():
    crowd = model(cores=2.0)
    assert crowd.step(16).likely_s > 1.1 * crowd.step(2).likely_s
    assert model(cpu_s=0.0, cores=2.0).step(16) == model(cpu_s=0.0, cores=2.0).step(8)


def test_cheaper_samples_shorten_the_step():
    assert model().cheaper_by(0.03, 0.03).step(1).likely_s < model().step(1).likely_s
    assert model().cheaper_by(1.0, 1.0).step(0).likely_s >= 0.01


def test_threads_that_spin_while_they_wait_do_not_once_samples_are_cheap():
    # GIVEN a training process that computes for more CPU seconds than its two threads have in the time of its training
    spinning, working = model(cores=2.0, training_cpu_s=0.04), model(cores=2.0, training_cpu_s=0.02)
    # THEN with cheaper samples only those of its training are left
    assert spinning.cheaper_by(0.03, 0.03) == working.cheaper_by(0.03, 0.03)


def test_cores_that_training_and_workers_fill_lose_time_beside_the_cpu_seconds():
    # GIVEN 50 ms of computing per step on two cores, by two workers and a model that is computed on them or on a GPU
    beside, on_gpu = (model(cores=2.0, training_on_cpu=on_cpu).step(2) for on_cpu in (True, False))
    # THEN the step is 1.3 to 1.5 times what the CPU seconds alone would take, as measured; on a GPU it is not
    assert 1.3 < beside.likely_s / 0.025 < 1.5
    assert on_gpu.likely_s / 0.025 < 1.1
    # AND at worst it loses more, at best nothing
    assert beside.worst_s - on_gpu.worst_s == pytest.approx(1.5 * (beside.likely_s - on_gpu.likely_s))
    assert beside.best_s == on_gpu.best_s


@pytest.mark.parametrize(("workers", "cores"), [(2, 8.0), (0, 2.0)])
def test_cores_with_room_and_a_process_that_loads_by_itself_lose_nothing(workers: int, cores: float):
    on_cpu, on_gpu = (model(cores=cores, training_on_cpu=there).step(workers) for there in (True, False))
    assert on_cpu == on_gpu


LOADER = LoaderReport(
    num_workers=0, batches=40, samples_per_batch=16, sample_wall_s=0.002, sample_cpu_s=0.0015, collate_wall_s=0.008,
    collate_cpu_s=0.006, cpu_share=0.75,
)  # fmt: skip
CORES = {"cpu.cores": 16}


@pytest.mark.parametrize(
    ("ranks", "cores"),
    [
        ({}, 16),
        ({"world_size": 4}, 4),
        ({"world_size": 32, "local_world_size": 8}, 2),  # on four nodes
        ({"world_size": 32, "local_world_size": 32}, 0.5),
    ],
)
def test_the_ranks_of_a_node_share_its_cores(
    ranks: dict[str, object], cores: float, make_report: Callable[..., Report]
) -> None:
    found = loading_model(make_report(setup=CORES | ranks, loader=LOADER))
    assert found is not None and found.cores == cores


@pytest.mark.parametrize(
    ("workers", "process_cpu_s", "training_cpu_s"),
    [
        (0, 0.07, 0.04),  # it made the batches itself
        (2, 0.07, 0.07),  # workers did
        (0, 0.01, 0.0),
        (0, None, 0.06),  # then its threads are taken to compute all the time that it does not wait
    ],
)
def test_what_the_training_process_computes_to_load_is_counted_once(
    workers: int, process_cpu_s: float | None, training_cpu_s: float, make_report: Callable[..., Report]
) -> None:
    # GIVEN steps of 100 ms, of which 40 wait for a batch that takes 30 ms of computing
    report = make_report(
        setup=CORES,
        stages={Stage.DATA_WAIT: 0.4, Stage.FORWARD: 0.6},
        loader=LOADER.model_copy(update={"num_workers": workers}),
        process_cpu_s_per_step=process_cpu_s,
    )
    # WHEN its costs are taken
    found = loading_model(report)
    # THEN those 30 ms are loading's, and training's only where they are not the process's own
    assert found is not None
    assert (found.cpu_s, found.training_s) == pytest.approx((0.03, 0.06))
    assert found.training_cpu_s == pytest.approx(training_cpu_s)


@pytest.mark.parametrize(
    ("waiting", "wall_s"),
    [(0.2, 0.8 * 0.12), (0.5, 0.09)],  # a free core takes no less than the CPU seconds
)
def test_costs_are_those_of_all_batches_of_a_step_without_waiting_for_a_core(
    waiting: float, wall_s: float, make_report: Callable[..., Report]
) -> None:
    starved = LOADER.model_copy(update={"core_wait_share": waiting})
    found = loading_model(make_report(setup=CORES, loader=starved, batches_per_step=3.0))
    assert found is not None
    assert (found.wall_s, found.cpu_s) == pytest.approx((wall_s, 0.09))


@pytest.mark.parametrize(("device", "on_cpu"), [("cpu", True), ("cuda", False), (None, False)])
def test_only_a_run_on_a_cpu_trains_on_the_cores_that_load(
    device: str | None, on_cpu: bool, make_report: Callable[..., Report]
) -> None:
    told = {} if device is None else {"device.kind": device}
    found = loading_model(make_report(setup=CORES | told, loader=LOADER))
    assert found is not None and found.training_on_cpu is on_cpu


@pytest.mark.parametrize("missing", ["loader", "cores", "step"])
def test_without_loader_cores_or_step_there_is_no_model(
    missing: str, make_report: Callable[..., Report]
) -> None:
    report = make_report(setup=CORES, loader=LOADER)
    without: dict[str, Any] = {
        "loader": {"loader": None},
        "cores": {"setup": {}},
        "step": {"step_time": None},
    }
    assert loading_model(report) is not None
    assert loading_model(report.model_copy(update=without[missing])) is None
