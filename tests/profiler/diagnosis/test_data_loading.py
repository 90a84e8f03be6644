"""Why loading is slow, and in which line."""

from __future__ import annotations

from typing import Any

import pytest

from trainrx.profiler.diagnosis import data_loading
from trainrx.profiler.report import LoaderLine, LoaderReport, PinningReport, TransformReport, WorkerReport
from trainrx.profiler.vocabulary import Severity, Stage

WAITING = {Stage.DATA_WAIT: 30.0, Stage.FORWARD: 5.0, Stage.BACKWARD: 5.0}


def loader(**facts: Any) -> LoaderReport:
    usual = {
        "num_workers": 2, "batches": 40, "samples_per_batch": 10, "sample_wall_s": 2e-3, "sample_cpu_s": 2e-3,
        "collate_wall_s": 1e-3, "collate_cpu_s": 1e-3, "cpu_share": 0.98,
    }  # fmt: skip
    return LoaderReport(**{**usual, **facts})


def pinned(wait_share: float) -> PinningReport:
    return PinningReport(batches=40, wall_s=0.012, cpu_s=0.001, wait_share=wait_share)


@pytest.mark.parametrize(
    ("workers", "facts", "cause"),
    [
        (0, {}, "main-process-loading"),
        (2, {}, "too-few-workers"),
        (4, {}, "cpu-transform"),
        (16, {"core_wait_share": 0.7, "cpu_share": 0.3}, "oversubscribed"),
        (2, {"cpu_share": 0.05}, "storage-latency"),
        (0, {"collate_wall_s": 0.1}, "collate"),
        (2, {"collate_wall_s": 0.1}, "collate"),
        (2, {"start_s": 0.2, "starts": 5}, "worker-restart"),
        (0, {"pinning": pinned(0.8)}, "pinning"),
        (2, {"pinning": pinned(0.8)}, "pinning"),
        (2, {"pinning": pinned(0.1)}, "too-few-workers"),
        # neighbours took the core: neither latency nor too many workers of its own
        (1, {"core_wait_share": 0.6, "cpu_share": 0.38}, "too-few-workers"),
    ],
)
def test_causes(observe, workers: int, facts: dict[str, Any], cause: str) -> None:
    seen = observe(
        WAITING, setup={"loader.num_workers": workers}, loader=loader(num_workers=workers, **facts)
    )
    found = data_loading.find(seen)
    assert found is not None and found.cause == cause


@pytest.mark.parametrize(
    ("storage", "cpu_share", "said"),
    [("nfs4", 0.05, True), ("tmpfs", 0.05, False), (None, 0.05, False), ("nfs4", 0.98, False)],
)
def test_what_the_files_lie_on_is_said_where_waiting_for_them_is_the_cause(
    observe, storage: str | None, cpu_share: float, said: bool
) -> None:
    setup = {"loader.num_workers": 2, "loader.storage": storage}
    found = data_loading.find(observe(WAITING, setup=setup, loader=loader(cpu_share=cpu_share)))
    assert found is not None
    assert ("its files lie on" in found.summary) is said
    assert [fact.value for fact in found.evidence if fact.name == "loader.storage"] == [storage] * (
        storage is not None
    )


@pytest.mark.parametrize(
    ("threads", "waited", "cause"),
    [
        (16, 0.2, "oversubscribed"),
        (16, 0.02, "too-few-workers"),  # the pools idle
        (16, None, "too-few-workers"),
        (2, 0.2, "too-few-workers"),  # as many threads as cores: others took them
        (1, 0.2, "too-few-workers"),
    ],
)
def test_threads_of_workers_count_against_the_cores_on_a_gpu_too(
    observe, threads: int, waited: float | None, cause: str
) -> None:
    setup = {"loader.num_workers": 4, "cpu.cores": 8, "device.kind": "cuda"}
    made = loader(num_workers=4, worker_threads=threads, core_wait_share=waited, cpu_share=0.7)
    found = data_loading.find(observe(WAITING, setup=setup, loader=made))
    assert found is not None and found.cause == cause
    assert ("of 16 threads each" in found.summary) is (cause == "oversubscribed")


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, "a batch takes 21.0 ms, 98 % of it computing"),
        ({"cpu_share": 0.05}, "a batch takes 21.0 ms, 95 % of it waiting, not computing"),
        (
            {"cpu_share": 0.37, "core_wait_share": 0.56},
            "a batch takes 21.0 ms, 37 % of it computing and 56 % waiting for a free core",
        ),
    ],
)
def test_what_is_said_of_a_batch_agrees_with_the_evidence(
    observe, workers: int, facts: dict[str, Any], said: str
) -> None:
    seen = observe(
        WAITING, setup={"loader.num_workers": workers}, loader=loader(num_workers=workers, **facts)
    )
    found = data_loading.find(seen)
    assert found is not None and said in found.summary


@pytest.mark.parametrize(
    ("waits_ms", "empty", "facts", "severity"),
    [
        (21.0, 0.05, {}, Severity.NOTE),
        (21.0, 0.9, {}, Severity.MODERATE),  # the workers are too slow
        (21.0, None, {}, Severity.MODERATE),  # nobody counted
        (60.0, 0.05, {}, Severity.HIGH),  # few fetches wait, but long
        (21.0, 0.05, {"start_s": 0.2, "starts": 5}, Severity.MODERATE),  # as new workers are waited for
        (21.0, 0.05, {"num_workers": 0}, Severity.MODERATE),
    ],
)
def test_handing_batches_over_is_a_note_while_workers_keep_up(
    observe, waits_ms: float, empty: float | None, facts: dict[str, Any], severity: Severity
) -> None:
    made = loader(empty_share=empty, **facts)
    stages = {Stage.DATA_WAIT: waits_ms, Stage.FORWARD: 79.0}
    found = data_loading.find(observe(stages, setup={"loader.num_workers": made.num_workers}, loader=made))
    assert found is not None and found.severity is severity
    assert ("Only 5.0 % of its fetches" in found.summary) is (severity is Severity.NOTE)


def test_workers_that_told_nothing_have_no_cause(observe) -> None:
    found = data_loading.find(observe(WAITING, setup={"loader.num_workers": 2}))
    assert found is not None and found.cause is None


def test_a_slow_transform_is_named_with_the_line_that_it_was_seen_in(observe) -> None:
    warp = TransformReport(name="Warp", file="train.py", line=31, calls=400, wall_s=1.5e-3, cpu_s=1.5e-3)
    scale = TransformReport(name="Scale", file="train.py", line=20, calls=400, wall_s=1e-5, cpu_s=1e-5)
    line = LoaderLine(file="train.py", line=35, function="Warp.__call__", share=0.9, samples=90)
    seen = observe(
        WAITING,
        setup={"loader.num_workers": 2},
        loader=loader(transforms=[scale, warp], lines=[line]),
    )
    found = data_loading.find(seen)
    assert found is not None
    assert (found.where[0].transform, found.where[0].line) == ("Warp", 35)
    # AND where no sample fell into it, its definition is named
    unseen = observe(WAITING, setup={"loader.num_workers": 2}, loader=loader(transforms=[scale, warp]))
    found = data_loading.find(unseen)
    assert found is not None and (found.where[0].transform, found.where[0].line) == ("Warp", 31)


def made_by(*batch_s: float, batches: int = 10) -> LoaderReport:
    workers = [
        WorkerReport(worker=number, batches=batches, busy_share=0.9, batch_s=took)
        for number, took in enumerate(batch_s)
    ]
    return loader(num_workers=len(workers), workers=workers)


@pytest.mark.parametrize(
    ("made", "slow"),
    [
        (made_by(0.02, 0.021, 0.07), 2),
        (made_by(0.05, 0.02), 0),
        (made_by(0.02, 0.021, 0.03), None),  # batches differ
        (made_by(0.02, 0.021, 0.07, batches=2), None),  # by chance
        (made_by(0.02), None),
        (loader(workers=[WorkerReport(worker=None, batches=9, busy_share=0.9, batch_s=0.1)]), None),
    ],
)
def test_a_worker_that_is_slower_than_its_fellows_is_named(
    observe, made: LoaderReport, slow: int | None
) -> None:
    found = data_loading.find(observe(WAITING, setup={"loader.num_workers": made.num_workers}, loader=made))
    assert found is not None
    assert [where.worker for where in found.where if where.worker is not None] == (
        [] if slow is None else [slow]
    )
    assert (f"worker {slow} takes" in found.summary) is (slow is not None)
    assert any(fact.name == f"one batch in worker {slow}" for fact in found.evidence) is (slow is not None)
