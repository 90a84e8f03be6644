"""The scorecard judges reports as its columns say."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from trainrx.profiler.report import Finding, Prediction, Prescription, Report, RunInfo, StepTime, Where
from trainrx.profiler.vocabulary import Confidence, Kind, RunStatus, Severity

from .card import card, confusion, summary
from .score import Score, score, speedup
from .truth import Scenario, Truth

SCENARIO = Scenario("one_slow_transform")
HEALTHY = Scenario("healthy_regression")


def finding(kind: Kind, severity: Severity = Severity.HIGH, line: int | None = None) -> Finding:
    where = [] if line is None else [Where(file=str(SCENARIO.slow), line=line)]
    return Finding(
        kind=kind, family=kind.family, cause="main-process-loading", share=0.5, ms_per_step=5, severity=severity,
        confidence=Confidence.HIGH, where=where, summary="It waits.",
    )  # fmt: skip


def prescription(method: str, mid: float = 2.0) -> Prescription:
    return Prescription(
        method=method, knob=None, finding=Kind.DATA_LOADING, equivalence="exact", basis="", risk="", how="", verify="",
        predicted_speedup=Prediction(low=1, mid=mid, high=3, bound=4),
    )  # fmt: skip


def report(*findings: Finding, prescriptions: tuple[Prescription, ...] = (), mean_s: float = 0.01) -> Report:
    return Report(
        run=RunInfo(id="r", command=[], status=RunStatus.FINISHED),
        verdict="",
        step_time=StepTime(p50_s=mean_s, p95_s=mean_s, mean_s=mean_s, n=40),
        findings=list(findings),
        prescriptions=list(prescriptions),
    )


def test_a_right_headline_with_a_true_line_and_remedy() -> None:
    line = max(SCENARIO.line_numbers())
    remedies = (prescription("amp-bf16"), prescription("lean-getitem", mid=2.5))
    found = score(SCENARIO, report(finding(Kind.DATA_LOADING, line=line), prescriptions=remedies), [2.0, 3.0])
    assert (found.headline_ok, found.cause_ok, found.place_ok) == (True, True, True)
    assert (found.remedy, found.predicted, found.bound, found.speedup) == (2, 2.5, 4, 2.5)


def test_another_line_or_kind_is_wrong() -> None:
    found = score(SCENARIO, report(finding(Kind.DATA_LOADING, line=1)), [])
    assert (found.headline_ok, found.place_ok, found.remedy) == (True, False, 0)
    found = score(SCENARIO, report(finding(Kind.LOGGING, line=1)), [])
    assert (found.headline_ok, found.cause_ok) == (False, False)


def test_a_healthy_run_may_have_notes_but_no_alarm() -> None:
    assert score(HEALTHY, report(finding(Kind.COMPUTE, Severity.NOTE)), []).headline_ok
    alarmed = score(HEALTHY, report(finding(Kind.LOGGING, Severity.MODERATE)), [])
    assert not alarmed.headline_ok
    assert "alarms on healthy runs: 1 of 1" in summary([alarmed])


def test_a_run_that_its_model_fills_needs_the_note_that_says_so() -> None:
    busy = Scenario("images_in_nchw")
    assert not score(busy, report(), []).headline_ok
    assert score(busy, report(finding(Kind.COMPUTE, Severity.NOTE)), []).found == "compute"


def test_speed_is_compared_per_sample() -> None:
    truth = Truth(title="twice the batch", kind=Kind.COMPUTE, samples_ratio=2.0)
    assert speedup(report(mean_s=0.02), report(mean_s=0.02), truth) == pytest.approx(2.0)


def test_the_card_shows_failures_and_what_the_machine_cannot_show() -> None:
    scores = [
        Score("a", "logging", found="logging", headline_ok=True, share=0.3, measured=[1.5, 1.7, 1.9]),
        Score("b", "evaluation", failed="it fell over\nhere"),
        Score("c", "host-sync", skipped="needs a GPU"),
    ]
    text = card(scores, "a machine")
    assert "| a | logging | ✓ logging 30 % |" in text and "1.70× (1.50–1.90)" in text
    assert "failed: it fell over" in text and "c: needs a GPU" in text
    assert "headline right: 1 of 2 (50 %, goal 95 %)" in text
    rows = [line for line in text.splitlines() if line.startswith(("| a |", "| b |", "| scenario"))]
    assert len({row.count("|") for row in rows}) == 1
    assert "| evaluation | · | 1 |" in confusion(scores[:2])


def test_a_gain_beyond_what_was_predicted_to_be_possible_is_told_in_its_row() -> None:
    # GIVEN one gain within its bound, one above it by less than noise, and one far above it
    scores = [
        Score("a", "logging", predicted=1.5, bound=2.0, measured=[1.5]),
        Score("b", "logging", predicted=1.5, bound=2.0, measured=[2.05]),
        Score("c", "logging", predicted=1.5, bound=2.0, measured=[2.2, 2.4, 2.6]),
        Score("d", "logging", measured=[2.4]),
    ]
    # WHEN the card is written
    rows = {line.split(" | ")[0]: line for line in card(scores, "a machine").splitlines()}
    # THEN the bound stands beside the prediction, and only the last of the three says that it lies above
    assert rows["| scenario"].endswith("| predicted | bound | measured |")
    assert rows["| a"].endswith("| 1.50× | 2.00× | 1.50× |")
    assert rows["| b"].endswith("| 1.50× | 2.00× | 2.05× |")
    assert rows["| c"].endswith("| 1.50× | 2.00× | 2.40× (2.20–2.60), above the bound |")
    assert rows["| d"].endswith("| – | – | 2.40× |")


def test_every_rate_stands_beside_its_goal() -> None:
    scores = [
        Score("a", "logging", headline_ok=True, cause_ok=True, remedy=4, predicted=1.5, bound=1.6, measured=[2.0]),
        Score("b", "logging", headline_ok=False, place_ok=False, remedy=1, predicted=1.5, bound=3.0, measured=[1.5]),
        Score("c", "healthy", headline_ok=False),
    ]  # fmt: skip
    assert summary(scores).splitlines() == [
        "- headline right: 1 of 3 (33 %, goal 95 %)",
        "- cause and where right: 1 of 2 (50 %, goal 85 %)",
        "- remedy among the first 3: 1 of 2 (50 %, goal 90 %)",
        "- alarms on healthy runs: 1 of 1 (goal 0)",
        "- wrong textbook advice first: 0",
        "- median |predicted / measured − 1|: 12 % over 2 (goal at most 20 %)",
        "- measured above the bound by more than 5 %: 1 (goal 0)",
    ]


@pytest.mark.parametrize("facts", [{"causes": ["x"]}, {"lines": ["x"]}, {"unknown": 1}, {"kind": "laziness"}])
def test_a_truth_that_contradicts_itself_is_refused(facts: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Truth.model_validate({"title": "t", **facts})
