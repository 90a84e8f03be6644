"""Evaluation, logging, saving, garbage collection and other Python each claim their own time, and none of another's."""

from __future__ import annotations

import pytest

from trainrx.profiler.diagnosis import (
    batches_by_hand,
    checkpoint_io,
    diagnose,
    evaluation,
    garbage_collection,
    host_python,
    logging,
)
from trainrx.profiler.recording import Frame
from trainrx.profiler.timeline.interruptions import Interruptions
from trainrx.profiler.vocabulary import Activity, Kind, Severity, Stage

MODEL = {Stage.FORWARD: 5.0, Stage.BACKWARD: 5.0}


def test_evaluation_names_its_line_and_its_share(observe, make_line) -> None:
    seen = observe({**MODEL, Stage.EVALUATION: 10.0}, lines=(make_line(10, stage=Stage.EVALUATION, line=31),))
    finding = evaluation.find(seen)
    assert finding is not None
    assert (finding.severity, finding.cause) == (Severity.HIGH, "evaluation-too-often")
    assert finding.share == pytest.approx(0.5) and finding.where[0].line == 31


def test_a_rare_evaluation_is_no_finding(observe) -> None:
    assert evaluation.find(observe({**MODEL, Stage.EVALUATION: 0.3})) is None


@pytest.mark.parametrize(
    ("activity", "cause"),
    [
        (Activity.LOGGING, "logging-in-the-loop"),
        (Activity.PRINTING, "printing-in-the-loop"),
        (Activity.PLOTTING, "plotting-in-the-loop"),
    ],
)
def test_logging_takes_its_lines_off_other_python(observe, make_line, activity: Activity, cause: str) -> None:
    # GIVEN 10 ms between the stages, 8 of which log
    seen = observe(
        {**MODEL, Stage.HOST: 10.0}, lines=(make_line(8, activity=activity, line=7), make_line(2, line=9))
    )
    # WHEN it is diagnosed
    found = logging.find(seen)
    # THEN the 8 ms are logging, and the rest is no more than a note
    assert found is not None and found.cause == cause
    assert found.ms_per_step == pytest.approx(8) and found.where[0].line == 7
    rest = host_python.find(seen)
    assert rest is not None and rest.ms_per_step == pytest.approx(2) and rest.severity is Severity.NOTE
    assert rest.where[0].line == 9


def test_a_few_samples_name_no_activity(observe, make_line) -> None:
    line = make_line(8, activity=Activity.PRINTING, samples=3)
    assert logging.find(observe({**MODEL, Stage.HOST: 10.0}, lines=(line,))) is None


def test_saving_outside_torch_counts_as_checkpoint(observe, make_line) -> None:
    seen = observe(
        {**MODEL, Stage.HOST: 6.0, Stage.CHECKPOINT: 4.0},
        lines=(make_line(5, activity=Activity.SAVING, line=3),),
    )
    found = checkpoint_io.find(seen)
    assert found is not None and found.ms_per_step == pytest.approx(9) and found.where[0].line == 3
    rest = host_python.find(seen)
    assert rest is None


@pytest.mark.parametrize(
    ("text", "cause"),
    [("gc.collect()", "explicit-collect"), ("rows = [Row(x) for x in y]", "automatic-collection")],
)
def test_garbage_collection_is_no_other_python(observe, text: str, cause: str) -> None:
    # GIVEN 10 ms between the stages, of which the collector takes 9, and 1 ms of the backward
    pauses = Interruptions(
        {Stage.HOST: 0.009, Stage.BACKWARD: 0.001}, 1.0, ((Frame("train.py", 23, "main", text), 0.009),)
    )
    seen = observe({**MODEL, Stage.HOST: 10.0}, garbage=pauses)
    # WHEN it is diagnosed
    findings = diagnose(seen)
    # THEN the collector is the headline, with the line that set it off, and nothing else claims its time
    assert findings[0].kind is Kind.GARBAGE_COLLECTION and findings[0].cause == cause
    assert findings[0].where[0].line == 23
    assert findings[0].ms_per_step == pytest.approx(10)
    assert all(finding.kind is not Kind.HOST_PYTHON for finding in findings)


def test_compiling_is_taken_off_other_python_once(observe, make_line) -> None:
    # GIVEN 10 ms between the stages, of which 4 compile, in lines that were seen so
    seen = observe(
        {**MODEL, Stage.HOST: 10.0},
        compilation=Interruptions({Stage.HOST: 0.004}, 1.0),
        lines=(make_line(4, activity=Activity.COMPILING, line=7), make_line(6, line=9)),
    )
    # WHEN other Python is looked for THEN 6 ms remain
    rest = host_python.find(seen)
    assert rest is not None and rest.ms_per_step == pytest.approx(6)


def test_short_pauses_are_no_finding(observe) -> None:
    assert garbage_collection.find(observe(MODEL, garbage=Interruptions({Stage.FORWARD: 5e-5}, 0.1))) is None
    assert garbage_collection.find(observe(MODEL)) is None


def test_reading_a_loss_costs_nothing_on_a_cpu(observe, make_line) -> None:
    seen = observe({**MODEL, Stage.HOST: 0.4}, lines=(make_line(0.4),))
    assert all(finding.severity is Severity.NOTE for finding in diagnose(seen))


@pytest.mark.parametrize("samples", [4, 1])
def test_batches_made_by_hand_are_data_loading(observe, make_line, samples: int) -> None:
    # GIVEN 10 ms between the stages, 8 of which make batches, be it in a single sample of a short run
    lines = (make_line(8, activity=Activity.LOADING, line=17, samples=samples), make_line(2, line=31))
    seen = observe({**MODEL, Stage.HOST: 10.0}, lines=lines)
    # WHEN it is diagnosed
    found, rest = batches_by_hand.find(seen), host_python.find(seen)
    # THEN the 8 ms are loading, with its line, and no other Python
    assert found is not None and (found.kind, found.cause) == (Kind.DATA_LOADING, "batches-by-hand")
    assert found.ms_per_step == pytest.approx(8) and found.where[0].line == 17
    assert rest is not None and rest.ms_per_step == pytest.approx(2) and rest.where[0].line == 31


def test_a_single_sample_of_a_small_part_is_no_loading(observe, make_line) -> None:
    lines = (make_line(2, activity=Activity.LOADING, line=17, samples=1), make_line(8, line=31))
    seen = observe({**MODEL, Stage.HOST: 10.0}, lines=lines)
    assert batches_by_hand.find(seen) is None
    rest = host_python.find(seen)
    assert rest is not None and rest.ms_per_step == pytest.approx(10)


def test_a_line_that_trains_is_no_other_python(observe, make_line) -> None:
    # GIVEN 6 ms between the stages, 4 of them in the line that calls the model
    lines = (make_line(4, line=30), make_line(5, line=30, stage=Stage.FORWARD), make_line(2, line=36))
    found = host_python.find(observe({**MODEL, Stage.HOST: 6.0}, lines=lines))
    # THEN only the rest could be done less often
    assert found is not None and found.ms_per_step == pytest.approx(2)
    assert [where.line for where in found.where] == [36]
