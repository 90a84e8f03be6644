"""What is advised against waiting for files, by what they lie on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.advisor.proposal import Case
from trainrx.advisor.remedies import answers
from trainrx.profiler.report import Finding, LoaderReport, PinningReport, Report
from trainrx.profiler.vocabulary import Kind, Stage

READING = LoaderReport(
    num_workers=2, batches=40, samples_per_batch=8, sample_wall_s=10e-3, sample_cpu_s=0.5e-3, collate_wall_s=1e-4,
    collate_cpu_s=1e-4, cpu_share=0.05,
)  # fmt: skip
METHOD = "local-disk-cache"


@pytest.mark.parametrize(
    ("storage", "said"), [("nfs4", "its files lie on nfs4"), (None, "copy the data"), ("tmpfs", None)]
)
def test_files_are_to_be_copied_nearer_unless_they_are_in_memory(
    storage: str | None,
    said: str | None,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN a loader that waits for its files
    finding = make_finding(Kind.DATA_LOADING, 0.8, cause="storage-latency")
    setup = {"device.kind": "cpu", "cpu.cores": 2, "loader.num_workers": 2, "loader.storage": storage}
    waiting = {Stage.DATA_WAIT: 0.8, Stage.FORWARD: 0.2}
    case = Case(make_report(finding, setup=setup, stages=waiting, loader=READING), finding)
    # WHEN it is answered THEN what is said names where they are
    found = answers(case)
    proposed = [one.how for one in found.proposals if one.method == METHOD]
    declined = [one.reason for one in found.declined if one.method == METHOD]
    if said is None:
        assert not proposed and "tmpfs" in declined[0]
    else:
        assert said in proposed[0] and not declined


@pytest.mark.parametrize("workers", [0, 2])
def test_pinning_is_moved_to_a_thread_where_the_training_does_it_and_workers_are_no_answer_elsewhere(
    workers: int, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN a training on images that waits for its batches to be pinned
    finding = make_finding(Kind.DATA_LOADING, 0.8, cause="pinning")
    setup = {"device.kind": "cuda", "cpu.cores": 8, "loader.num_workers": workers, "task.domain": "vision"}
    pinning = PinningReport(batches=40, wall_s=0.012, cpu_s=0.01, wait_share=0.9)
    loader = READING.model_copy(update={"num_workers": workers, "pinning": pinning})
    waiting = {Stage.DATA_WAIT: 0.8, Stage.FORWARD: 0.2}
    case = Case(make_report(finding, setup=setup, stages=waiting, loader=loader), finding)
    # WHEN it is answered
    found = answers(case)
    # THEN a loader with workers pins beside the training, and more workers than that pin no faster
    proposed = {one.method: one for one in found.proposals}
    declined = {one.method: one.reason for one in found.declined}
    assert ("dataloader-num-workers" in proposed) is (workers == 0)
    assert ("12.0 ms of each batch, in one thread" in declined.get("dataloader-num-workers", "")) is (
        workers == 2
    )
    # AND fewer bytes are fewer to pin, within what the finding exposes
    prediction = case.prediction(proposed["uint8-transfer"])
    assert prediction is not None and 1 < prediction.mid <= prediction.bound
