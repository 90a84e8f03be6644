"""What remedies count on beside shares of a finding: costs that stay, and others that go with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.advisor.prescribe import answers
from trainrx.advisor.proposal import Case
from trainrx.profiler.report import Fact, Finding, LoaderReport, Prediction, Report
from trainrx.profiler.vocabulary import Kind, Stage

MakeReport = Callable[..., Report]
MakeFinding = Callable[..., Finding]
LOADER = LoaderReport(
    num_workers=0, batches=40, samples_per_batch=10, sample_wall_s=0.009, sample_cpu_s=0.009, collate_wall_s=0.0,
    collate_cpu_s=0.0, cpu_share=1.0,
)  # fmt: skip
SETUP = {"device.kind": "cpu", "cpu.cores": 2, "loader.num_workers": 0}


def predicted(case: Case, method: str) -> Prediction:
    proposal = next(one for one in answers(case).proposals if one.method == method)
    found = case.prediction(proposal)
    assert found is not None
    return found


def loading(make_report: MakeReport, finding: Finding, loader: LoaderReport, **setup: object) -> Case:
    waiting = {Stage.DATA_WAIT: finding.share, Stage.FORWARD: 1 - finding.share}
    return Case(make_report(finding, setup=SETUP | setup, stages=waiting, loader=loader), finding)


@pytest.mark.parametrize("sample_s", [100e-6, 9e-3])
def test_a_sample_that_is_kept_in_memory_costs_an_index_however_dear_it_was(
    sample_s: float, make_report: MakeReport, make_finding: MakeFinding
) -> None:
    # GIVEN steps of 100 ms, of which 90 ms wait for as many samples as fit in there
    samples = 0.09 / sample_s
    loader = LOADER.model_copy(
        update={"sample_wall_s": sample_s, "sample_cpu_s": sample_s, "samples_per_batch": samples}
    )
    case = loading(make_report, make_finding(Kind.DATA_LOADING, 0.9, cause="main-process-loading"), loader)
    # WHEN the gains of keeping and of storing them are predicted
    kept, stored = predicted(case, "dataset-in-memory"), predicted(case, "offline-preprocessing")
    # THEN a sample of 9 ms leaves next to nothing when it is kept, a short one as much as when it is stored
    assert kept.mid == pytest.approx(stored.mid) if sample_s < 1e-3 else kept.mid > 1.3 * stored.mid


def test_lean_code_is_not_promised_below_a_few_calls(
    make_report: MakeReport, make_finding: MakeFinding
) -> None:
    # GIVEN samples of 40 microseconds, which a few calls of array code would take half of
    finding = make_finding(Kind.DATA_LOADING, 0.9, cause="main-process-loading")
    short = {"sample_wall_s": 40e-6, "sample_cpu_s": 40e-6, "samples_per_batch": 2250.0}
    dear, cheap = (
        predicted(loading(make_report, finding, LOADER.model_copy(update=costs)), "lean-getitem")
        for costs in ({}, short)
    )
    assert dear.mid > 6 and cheap.mid < 2.2


def test_an_epoch_still_turns_when_its_workers_are_kept(
    make_report: MakeReport, make_finding: MakeFinding
) -> None:
    # GIVEN five epochs' turns of 20 and of 200 ms in 40 steps of 100 ms
    finding = make_finding(Kind.DATA_LOADING, 0.5, cause="worker-restart")
    gains = [
        predicted(
            loading(
                make_report,
                finding,
                LOADER.model_copy(update={"num_workers": 2, "starts": 5, "start_s": start_s}),
                **{"loader.num_workers": 2},
            ),
            "dataloader-persistent-workers",
        ).mid
        for start_s in (0.02, 0.2)
    ]
    # THEN ten milliseconds of each stay
    assert gains == pytest.approx([0.1 / (0.1 - 5 * 0.01 / 40), 0.1 / (0.1 - 5 * 0.19 / 40)])


def test_the_gradient_of_a_table_goes_with_its_update(
    make_report: MakeReport, make_finding: MakeFinding
) -> None:
    def gain(backward: float) -> float:
        finding = make_finding(Kind.OPTIMIZER_STEP, 0.7, cause="dense-embedding-gradient")
        stages = {Stage.OPTIMIZER: 0.7, Stage.BACKWARD: backward, Stage.FORWARD: 0.3 - backward}
        return predicted(Case(make_report(finding, stages=stages), finding), "sparse-embedding-gradients").mid

    # An update of 70 ms passes over the table seven times, so that two passes of a backward are 20 ms; most of a short one
    assert gain(0.3) == pytest.approx(0.1 / (0.03 + 0.05 * 0.07 - 0.02))
    assert gain(0.1) == pytest.approx(0.1 / (0.03 + 0.05 * 0.07 - 0.009))


def test_what_an_aid_costs_an_operation_is_a_range(
    make_report: MakeReport, make_finding: MakeFinding
) -> None:
    # GIVEN anomaly detection that is held for 50 of 100 ms, on 1000 operations
    finding = make_finding(
        Kind.LAUNCH_OVERHEAD, 0.5, cause="anomaly-detection", evidence=[Fact(name="operations per step", value=1000)]
    )  # fmt: skip
    stages = {Stage.FORWARD: 0.4, Stage.BACKWARD: 0.4, Stage.OPTIMIZER: 0.2}
    case = Case(make_report(finding, setup=SETUP | {"torch.anomaly_mode": True}, stages=stages), finding)
    # THEN at best it was a quarter more, which the bound of the operations allows
    found = predicted(case, "disable-debug-apis")
    assert found.high == pytest.approx(0.1 / (0.1 - 1.25 * 0.05))
    assert found.mid == pytest.approx(0.1 / (0.1 - 0.95 * 0.05))
    assert found.high < found.bound


def test_steps_of_unequal_work_do_not_show_what_the_rest_takes(
    make_report: MakeReport, make_finding: MakeFinding
) -> None:
    # GIVEN ranks with unequal work, and quick steps beside long ones
    finding = make_finding(Kind.STRAGGLERS, 0.2, cause="uneven-work")
    report = make_report(finding, setup=SETUP, stages={Stage.COMMUNICATION: 0.2, Stage.FORWARD: 0.8})
    assert report.step_time is not None
    quick = report.model_copy(update={"step_time": report.step_time.model_copy(update={"p50_s": 0.03})})
    # THEN evening them out is not promised the quick steps
    assert predicted(Case(quick, finding), "length-bucketing").mid < 0.1 / (0.1 - 0.02)


def test_channels_last_says_what_it_rests_on_where_it_runs(
    make_report: MakeReport, make_finding: MakeFinding
) -> None:
    finding = make_finding(Kind.COMPUTE, 0.9, cause="model-compute")
    said = {
        device: next(
            one.basis
            for one in answers(
                Case(make_report(finding, setup={"device.kind": device, "model.has": ["conv"]}), finding)
            ).proposals
            if one.method == "channels-last"
        )
        for device in ("cpu", "cuda")
    }
    assert "CPU libraries" in said["cpu"] and "1.25" in said["cuda"]
