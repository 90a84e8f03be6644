"""What a bottleneck on shared cores does to the rest of a step is read from its undisturbed steps."""

import pytest

from trainrx.advisor.predict.estimate import NO_RELIEF
from trainrx.advisor.predict.relief import relief_of
from trainrx.profiler.report import Report, RunInfo, StageShare, StepTime
from trainrx.profiler.vocabulary import Kind, RunStatus, Stage


def report(device, *, stage=Stage.DATA_WAIT, p50=0.010, p10=0.009):
    shares = [
        StageShare(
            name=stage, seconds_per_step=0.006, share=0.6, rest_undisturbed_s=0.003, rest_quick_s=0.002
        ),
        StageShare(name=Stage.BACKWARD, seconds_per_step=0.004, share=0.4),
    ]
    return Report(
        run=RunInfo(id="run", command=[], status=RunStatus.STOPPED, steps_recorded=40),
        verdict="",
        setup={"device.kind": device},
        step_time=StepTime(p50_s=p50, p95_s=0.012, mean_s=0.010, n=40, p10_s=p10),
        stages=shares,
    )


def test_undisturbed_steps_show_the_rest():
    found = relief_of(report("cpu"), Kind.DATA_LOADING, step_s=0.010, exposed_s=0.006)
    assert (found.likely_s, found.best_s) == pytest.approx((0.3 * 0.004, 0.55 * 0.004))
    # AND nothing of what steps show is lost where the bottleneck is the smaller part
    found = relief_of(report("cpu"), Kind.DATA_LOADING, step_s=0.010, exposed_s=0.004)
    assert (found.likely_s, found.best_s) == pytest.approx((0.001, 0.002))


def test_a_typical_step_without_the_bottleneck_shows_it_too():
    # GIVEN collections that make 6 of 10 ms in the mean, but that most steps have not
    found = relief_of(
        report("cpu", stage=Stage.HOST, p50=0.002, p10=0.0015), Kind.GARBAGE_COLLECTION, step_s=0.010, exposed_s=0.006
    )  # fmt: skip
    assert (found.likely_s, found.best_s) == pytest.approx((0.002, 0.0025))


def test_nothing_is_claimed_where_a_gpu_computes_or_the_model_is_the_work():
    assert relief_of(report("cuda"), Kind.DATA_LOADING, step_s=0.010, exposed_s=0.006) is NO_RELIEF
    assert relief_of(report("cpu"), Kind.COMPUTE, step_s=0.010, exposed_s=0.006) is NO_RELIEF
