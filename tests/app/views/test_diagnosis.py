"""The diagnosis as text: the verdict untouched, units everywhere, the missing told with its reason."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.app.views.diagnosis import Tone, diagnosis_view
from trainrx.app.views.run_list import run_row
from trainrx.profiler.report import (
    NOT_ENOUGH_EVIDENCE,
    DeepWindowCost,
    DeviceShares,
    RankInfo,
    RecorderCost,
    StageShare,
    StepTime,
)
from trainrx.profiler.vocabulary import RunStatus, Severity, Stage


def texts(value: Any) -> list[str]:
    """All texts of a view."""
    if isinstance(value, str):
        return [str(value)]
    if isinstance(value, tuple):
        return [text for part in value for text in texts(part)]
    if is_dataclass(value):
        return [text for field in fields(value) for text in texts(getattr(value, field.name))]
    return []


def test_full(samples: Any) -> None:
    view = diagnosis_view(samples.full_report("a"), samples.manifest("a"))
    assert view.verdict == samples.VERDICT
    assert (view.tone, view.label, view.timed) == (Tone.PROBLEM, "high · data loading", True)
    shown = {figure.name: (figure.value, figure.detail) for figure in view.figures}
    assert shown == {
        "Median step": ("99.0 ms", "6 timed steps"),
        "95th percentile": ("120.0 ms", "1.21× the median"),
        "Steps per second": ("10", "mean step 100.0 ms"),
        "Biggest stage": ("data wait", "60 % of the step"),
        "Recorder cost": ("0.4 %", "400 µs per step"),
    }
    assert view.stages_caption.startswith("Mean of 6 timed steps: 100.0 ms")


def test_the_command_reads_as_it_would_be_typed(samples: Any) -> None:
    kept = samples.manifest("a").model_copy(
        update={"command": ["/opt/venv/bin/python", "/home/u/src/train.py", "--name", "a b", "/data"]}
    )
    assert diagnosis_view(samples.full_report(), kept).command == "python src/train.py --name 'a b' /data"


def test_a_finding_tells_measured_from_derived_from_setup(samples: Any) -> None:
    (finding,) = diagnosis_view(samples.full_report(), samples.manifest("a")).findings
    assert (finding.time, finding.percent, finding.where) == ("60.0 ms", "60 %", ("u/train.py:12 in load",))
    assert [(fact.value, fact.basis) for fact in finding.evidence] == [
        ("60 %", "measured"),
        ("2.50×", "derived"),
        ("0", "setup"),
    ]


def test_the_cost_of_the_deep_window_is_among_the_notes(samples: Any) -> None:
    window = DeepWindowCost(steps=1, mean_step_s=0.15, timed_step_s=0.1, opening_s=0.05, closing_s=0.05)
    report = samples.full_report(recorder=RecorderCost(deep_window=window, notes=["A note."]))
    told, note = diagnosis_view(report, samples.manifest("a")).notes
    assert told.startswith("The deep window took 100.0 ms to open and close, and its 1 step took 150.0 ms")
    assert told.endswith("none of that is in the timing.") and note == "A note."


def test_a_shortage_of_memory_is_said_to_cost_no_time(samples: Any) -> None:
    found = samples.finding(Severity.HIGH).model_copy(update={"share": 0.0, "ms_per_step": 0.0})
    (finding,) = diagnosis_view(samples.full_report(findings=[found]), samples.manifest("a")).findings
    assert finding.cost == "costs no time of a step"


def test_lines_come_by_stage_and_say_when_they_are_a_guess(samples: Any) -> None:
    lines = diagnosis_view(samples.full_report(), samples.manifest("a")).lines
    assert [(line.place, line.certain) for line in lines] == [
        ("u/train.py:12", True),
        ("u/train.py:40", False),
    ]


@pytest.mark.parametrize(
    ("severity", "tone"),
    [(Severity.HIGH, Tone.PROBLEM), (Severity.MODERATE, Tone.CONCERN), (Severity.NOTE, Tone.HEALTHY)],
)
def test_the_tone_follows_the_headline(samples: Any, severity: Severity, tone: Tone) -> None:
    report = samples.full_report(findings=[samples.finding(severity)])
    assert diagnosis_view(report, samples.manifest("a")).tone is tone


def test_what_cannot_be_told_is_not_called_healthy(samples: Any) -> None:
    report = samples.full_report(findings=[], verdict=f"{NOT_ENOUGH_EVIDENCE}: no device work was recorded.")
    view = diagnosis_view(report, samples.manifest("a"))
    assert (view.tone, view.label, view.timed) == (Tone.UNKNOWN, "no answer", True)
    assert run_row(samples.manifest("a"), report, name="a").worst is None


def test_what_a_rank_and_the_recorder_say_alike_is_said_once(samples: Any) -> None:
    report = samples.full_report()
    ranks = [report.ranks[0].model_copy(update={"rank": 0, "note": "the file ends inside an event"})]
    recorder = report.recorder.model_copy(update={"notes": ["rank 0: the file ends inside an event"]})
    told = diagnosis_view(
        report.model_copy(update={"ranks": ranks, "recorder": recorder}), samples.manifest("a")
    ).notes
    assert [note for note in told if "ends inside" in note] == ["rank 0: the file ends inside an event"]


def test_without_steps_everything_is_missing_and_nothing_is_zero(samples: Any) -> None:
    report = samples.full_report(
        step_time=None, step_time_reason="No step was recorded.", stages=[], host_lines=[], findings=[]
    )
    view = diagnosis_view(report, samples.manifest("a", RunStatus.FAILED, exit_code=3))
    assert (view.timed, view.tone, view.ending) == (False, Tone.UNKNOWN, "the script failed with exit code 3")
    assert [figure.value for figure in view.figures[:3]] == ["n/a", "n/a", "n/a"]
    assert all(figure.detail == "because no step was timed" for figure in view.figures[:3])


def test_a_run_going_on_speaks_of_so_far(samples: Any) -> None:
    kept = samples.recording_manifest("a")
    assert diagnosis_view(samples.full_report(), kept).verdict.startswith(
        "So far, over 6 timed steps: The training"
    )
    begun = samples.full_report(step_time=None, findings=[])
    view = diagnosis_view(begun, kept)
    assert (view.verdict, view.label) == (
        "Recording has begun: 9 steps seen, none timed yet.",
        "waiting for steps",
    )


def test_a_traced_device_has_a_figure(samples: Any) -> None:
    device = DeviceShares(
        busy_share=0.7, compute_share=0.7, exposed_communication_share=0, exposed_copy_share=0, idle_share=0.3
    )
    view = diagnosis_view(samples.full_report(device=device, device_reason=None), samples.manifest("a"))
    assert [figure.value for figure in view.figures if figure.name == "Device busy"] == ["70 %"]


def test_setup_is_grouped_and_says_what_is_missing(samples: Any) -> None:
    setup = {"model.parameter_bytes": 2048, "loader.num_workers": 4, "odd": "x" * 500, "model.has": ["conv"]}
    kept = samples.manifest(
        "a", versions={"trainrx": "0.1.0"}, git={"commit": "0123456789abcdef", "dirty": True}
    )
    view = diagnosis_view(samples.full_report(setup=setup), kept)
    rows = {group.title: dict(group.rows) for group in view.setup}
    assert rows["Loader"] == {"num_workers": "4"}
    assert rows["Model"] == {"parameter size": "2.0 KiB", "has": "conv"}
    assert rows["Machine"] == {"device trace": "n/a: this run used no GPU"}
    assert rows["Software"] == {"trainrx": "0.1.0", "git commit": "0123456789 + changes"}
    assert len(rows["Other"]["odd"]) == 200


def test_ranks_are_shown_where_there_are_several(samples: Any) -> None:
    time = StepTime(p50_s=0.1, p95_s=0.1, mean_s=0.1, n=3)
    ranks = [
        RankInfo(rank=0, steps=5, step_time=time, stages=samples.stages(), last_share=0.0),
        RankInfo(rank=1, steps=0, note="the process was killed"),
    ]
    view = diagnosis_view(samples.full_report(ranks=ranks), samples.manifest("a"))
    assert (view.ranks[0].biggest_stage, view.ranks[0].waited_for) == ("data wait 60 %", "0 %")
    assert (view.ranks[1].step_time, view.ranks[1].waited_for) == ("n/a: no step was timed", "n/a")
    assert "Rank 1: the process was killed." in view.notes
    assert diagnosis_view(samples.full_report(), samples.manifest("a")).ranks == ()


def test_what_went_wrong_is_a_warning(samples: Any) -> None:
    kept = samples.manifest("a", note="the disk was full")
    assert diagnosis_view(samples.full_report(), kept, warnings=["One."]).warnings == (
        "One.",
        "The disk was full.",
    )


@given(
    seconds=st.lists(st.floats(min_value=0, max_value=1e5), min_size=1, max_size=9),
    status=st.sampled_from(list(RunStatus)),
)
def test_no_report_gives_a_text_of_nothing(samples: Any, seconds: list[float], status: RunStatus) -> None:
    total = sum(seconds) or 1.0
    stages = [
        StageShare(name=stage, seconds_per_step=value, share=value / total)
        for stage, value in zip(Stage, seconds, strict=False)
    ]
    time = StepTime(p50_s=total, p95_s=total, mean_s=sum(seconds), n=len(seconds))
    view = diagnosis_view(samples.full_report(stages=stages, step_time=time), samples.manifest("a", status))
    assert not [text for text in texts(view) if "None" in text or "nan" in text.split() or text == ""]
