"""Comparing runs: the ratio and its interval, what is unfair, what differs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.advisor.compare.runs import Outcome, compare
from trainrx.profiler.report import Report, RunInfo, StageShare, StepTime
from trainrx.profiler.vocabulary import RunStatus, Stage


def a_report(step_s: float = 0.1, waiting_s: float = 0.0, **setup: object) -> Report:
    stages = [
        StageShare(name=Stage.DATA_WAIT, seconds_per_step=waiting_s, share=waiting_s / step_s),
        StageShare(name=Stage.FORWARD, seconds_per_step=step_s - waiting_s, share=1 - waiting_s / step_s),
    ]
    return Report(
        run=RunInfo(id="r", command=["x"], status=RunStatus.FINISHED),
        verdict="",
        setup=setup,
        step_time=StepTime(p50_s=step_s, p95_s=step_s, mean_s=step_s, n=40),
        stages=[stage for stage in stages if stage.seconds_per_step],
    )


def steps(median_s: float, seed: int, n: int = 60) -> list[float]:
    return (median_s * np.random.default_rng(seed).lognormal(0, 0.1, n)).tolist()


def test_a_run_twice_as_fast_is_faster() -> None:
    found = compare(a_report(0.2), a_report(0.1), steps(0.2, 1), steps(0.1, 2))
    assert found.outcome is Outcome.FASTER and found.ratio is not None
    assert found.ratio.low < found.ratio.median < found.ratio.high
    assert found.ratio.median == pytest.approx(2, rel=0.1)


def test_the_same_run_again_shows_no_evidence() -> None:
    outcomes = [
        compare(a_report(), a_report(), steps(0.1, seed), steps(0.1, seed + 1000)).outcome
        for seed in range(40)
    ]
    assert outcomes.count(Outcome.NO_EVIDENCE) >= 36


def test_without_the_steps_there_is_a_ratio_but_no_claim() -> None:
    found = compare(a_report(0.2), a_report(0.1))
    assert found.ratio is not None and found.ratio.median == 2
    assert found.outcome is Outcome.NO_EVIDENCE and found.reason is not None


def test_without_steps_there_is_no_ratio() -> None:
    none = a_report().model_copy(update={"step_time": None})
    found = compare(none, a_report())
    assert found.outcome is Outcome.UNAVAILABLE and found.ratio is None


def test_another_batch_size_is_compared_per_sample_and_said() -> None:
    before, after = a_report(0.1, **{"loader.batch_size": 8}), a_report(0.2, **{"loader.batch_size": 32})
    found = compare(before, after, steps(0.1, 1), steps(0.2, 2))
    assert found.ratio is not None and found.ratio.per_sample
    assert found.ratio.median == pytest.approx(2, rel=0.1)
    assert any(breach.rule == "equal work" for breach in found.breaches)


def test_other_hardware_is_a_serious_breach() -> None:
    found = compare(a_report(**{"device.name": "A"}), a_report(**{"device.name": "B"}))
    assert [breach.rule for breach in found.breaches if breach.serious] == ["same hardware"]
    assert [(setting.name, setting.before, setting.after) for setting in found.settings] == [
        ("device.name", "A", "B")
    ]


def test_stages_are_listed_by_the_size_of_their_change() -> None:
    found = compare(a_report(0.2, waiting_s=0.1), a_report(0.1))
    assert [(stage.stage, round(stage.change_s, 6)) for stage in found.stages] == [
        (Stage.DATA_WAIT, -0.1),
        (Stage.FORWARD, 0.0),
    ]


@given(st.floats(0.001, 10), st.floats(0.001, 10))
def test_comparing_the_other_way_round_inverts_the_ratio(first_s: float, second_s: float) -> None:
    forward = compare(a_report(first_s), a_report(second_s)).ratio
    backward = compare(a_report(second_s), a_report(first_s)).ratio
    assert forward is not None and backward is not None
    assert forward.median * backward.median == pytest.approx(1)
