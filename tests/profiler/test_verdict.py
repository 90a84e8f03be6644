"""The sentence on top says what limits the run, that nothing does, or that nothing can be said, and how sure that is."""

from __future__ import annotations

import pytest

from trainrx.profiler.report import Finding, StepTime
from trainrx.profiler.verdict import verdict
from trainrx.profiler.vocabulary import Confidence, Kind, Severity

STEP = StepTime(p50_s=0.0123, p95_s=0.02, mean_s=0.013, n=40)
LOSS = "Rank 1 was killed."


def finding(
    kind: Kind, severity: Severity = Severity.HIGH, confidence: Confidence = Confidence.HIGH
) -> Finding:
    return Finding(
        kind=kind, family=kind.family, cause=None, share=0.5, ms_per_step=6.0, severity=severity,
        confidence=confidence, summary=f"It is {kind}.",
    )  # fmt: skip


def test_without_a_step_nothing_can_be_said_whatever_was_found() -> None:
    said = "No training step was recorded, so nothing can be said about what this run waits for."
    assert verdict([], None) == said
    assert verdict([finding(Kind.LOGGING)], None) == said


def test_without_a_finding_nothing_dominates_the_median_step() -> None:
    assert verdict([], STEP) == "Nothing dominates the step of 12.3 ms."


def test_a_note_is_no_headline() -> None:
    assert verdict([finding(Kind.LOGGING, Severity.NOTE)], STEP) == "Nothing dominates the step of 12.3 ms."


def test_a_step_that_its_model_fills_says_so() -> None:
    noted = [finding(Kind.LOGGING, Severity.NOTE), finding(Kind.COMPUTE, Severity.NOTE)]
    assert verdict(noted, STEP) == "Nothing beside the model dominates the step of 12.3 ms. It is compute."


@pytest.mark.parametrize("severity", [Severity.MODERATE, Severity.HIGH])
def test_the_first_finding_above_a_note_is_the_headline(severity: Severity) -> None:
    found = [
        finding(Kind.COMPUTE, Severity.NOTE),
        finding(Kind.EVALUATION, severity),
        finding(Kind.LOGGING),
    ]
    assert verdict(found, STEP) == "It is evaluation."


@pytest.mark.parametrize(
    ("confidence", "doubt"),
    [
        (Confidence.LOW, " This rests on few steps."),
        (Confidence.MEDIUM, ""),
        (Confidence.HIGH, ""),
    ],
)
def test_a_headline_of_few_steps_is_doubted(confidence: Confidence, doubt: str) -> None:
    assert verdict([finding(Kind.LOGGING, confidence=confidence)], STEP) == f"It is logging.{doubt}"


def test_ranks_that_were_lost_are_told_first() -> None:
    assert verdict([], STEP, loss=LOSS) == f"{LOSS} Nothing dominates the step of 12.3 ms."
    assert verdict([finding(Kind.LOGGING)], STEP, loss=LOSS) == f"{LOSS} It is logging."
    assert verdict([], None, loss=LOSS).startswith(f"{LOSS} No training step was recorded")
