"""What is said against batches that the loop makes by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.advisor.prescribe import prescribe
from trainrx.advisor.proposal import Case
from trainrx.advisor.remedies import answers
from trainrx.profiler.report import Finding, Report, Where
from trainrx.profiler.vocabulary import Kind, Stage


@pytest.mark.parametrize(
    ("cores", "device", "gain"),
    [(16, "cuda", 3.0), (16, "cpu", 3.0), (2, "cpu", 1.0)],
)
def test_workers_are_promised_what_the_cores_leave(
    cores: int,
    device: str,
    gain: float,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN steps of 100 ms, of which the loop makes batches for 70, beside a training that computes on all it gets
    finding = make_finding(
        Kind.DATA_LOADING, 0.7, cause="batches-by-hand", where=[Where(file="train.py", line=17)]
    )
    report = make_report(
        finding, setup={"cpu.cores": cores, "device.kind": device}, process_cpu_s_per_step=0.13,
        stages={Stage.HOST: 0.7, Stage.FORWARD: 0.3},
    )  # fmt: skip
    # WHEN it is answered
    said = answers(Case(report, finding))
    workers = next(one for one in said.proposals if one.method == "dataloader-num-workers")
    found = Case(report, finding).prediction(workers)
    # THEN nothing that needs a DataLoader is said beside, and workers gain what the cores leave them
    assert said.complete and "train.py:17" in workers.how and "IterableDataset" in workers.how
    assert found is not None and found.mid == pytest.approx(gain, rel=0.25)


def test_making_batches_is_not_to_be_done_less_often(
    bundled, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(
        Kind.DATA_LOADING, 0.7, cause="batches-by-hand", where=[Where(file="train.py", line=17)]
    )
    report = make_report(finding, setup={"cpu.cores": 2, "device.kind": "cpu"})
    first = [one.method for one in prescribe(report, bundled).prescriptions][:3]
    assert {"lean-getitem", "offline-preprocessing"} <= set(first) and "eval-and-log-frequency" not in first
