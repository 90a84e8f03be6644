"""The way from recordings to a report: what heads the diagnosis, and which processes of a run are ranks of one job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.analysis import _losses, analyse
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.report import Report
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import Kind, RunStatus, Severity

S = 1_000_000_000
FAILED = Manifest.model_construct(status=RunStatus.FAILED, note=None)


ALL_REDUCE = (layout.COMMUNICATION, S // 2, S // 2 + 1, 1)


@pytest.mark.parametrize(
    ("process", "facts", "lost"),
    [
        ({"world_size": 1}, {}, []),  # each trains for itself
        ({}, {}, []),
        ({"world_size": 2}, {}, [1]),
        ({"world_size": 1}, {"parallel": [{"number": 1}]}, [1]),  # joined after it began to record
        ({"world_size": 1}, {"sharded": [{"number": 1}]}, [1]),
    ],
)
def test_only_processes_of_a_job_take_each_other_along(
    make_recording: Any, process: dict[str, Any], facts: dict[str, Any], lost: list[int]
) -> None:
    # GIVEN two processes of one run, of which one was killed before the other failed
    recording = make_recording([(layout.STEP, 0, S, 1)], facts={"process": [process], **facts})
    failed = replace(
        recording,
        facts={**recording.facts, "uncaught": [{"t": 9 * S, "error": "RuntimeError", "frames": []}]},
    )
    killed = replace(recording, rank=1, gone={"t": 5 * S, "signal": 9})
    # WHEN the run is judged THEN it is blamed only where the other waited for it
    assert _losses(FAILED, [failed, killed]).lost == lost


@pytest.mark.parametrize(("span", "lost"), [((layout.FORWARD, 0, 1, 0), []), (ALL_REDUCE, [1])])
def test_processes_that_exchange_by_hand_are_of_one_job(
    make_recording: Any, span: tuple[int, int, int, int], lost: list[int]
) -> None:
    # GIVEN two processes that joined a group after their recording began, and average gradients by hand or not
    recording = make_recording([(layout.STEP, 0, S, 1), span], facts={"process": [{"world_size": 1}]})
    failed = replace(
        recording,
        facts={**recording.facts, "uncaught": [{"t": 9 * S, "error": "RuntimeError", "frames": []}]},
    )
    killed = replace(recording, rank=1, gone={"t": 5 * S, "signal": 9})
    # WHEN the run is judged THEN only those that exchange take each other along
    assert _losses(FAILED, [failed, killed]).lost == lost


@pytest.fixture
def analysed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Analyses recordings as those of one run and returns its report."""

    def report(*recordings: RankRecording) -> Report:
        run = RunFolder(tmp_path)
        run.write_manifest(
            Manifest(id="a", command=[], cwd="", started="", status=RunStatus.FINISHED, exit_code=0)
        )
        monkeypatch.setattr("trainrx.profiler.analysis.read_ranks", lambda path: list(recordings))
        return analyse(run).report

    return report


@pytest.mark.parametrize(("world_size", "found"), [(1, False), (2, True)])
def test_trainings_that_share_a_run_do_not_wait_for_each_other(
    make_recording: Any, analysed: Any, world_size: int, found: bool
) -> None:
    # GIVEN two processes of one run, one with steps a hundred times as long as the other's
    facts = {"process": [{"world_size": world_size}]}
    quick, slow = (
        make_recording(
            [(layout.STEP, step * each, (step + 1) * each, 1) for step in range(10)],
            facts=facts,
        )
        for each in (S // 10, 10 * S)
    )
    # WHEN the run is analysed THEN the slow one keeps the quick one waiting only if both are of one job
    kinds = {one.kind for one in analysed(quick, replace(slow, rank=1)).findings}
    assert (Kind.STRAGGLERS in kinds) is found


def test_several_findings_of_a_run_stand_by_the_time_that_they_expose(
    make_recording: Any, analysed: Any
) -> None:
    # GIVEN steps of 100 ms, of which the model takes 50, saving takes 10 and evaluating takes 30
    stages = (
        (layout.DATA_WAIT, 0, 5, 1),
        (layout.FORWARD, 5, 25, layout.IN_TRAINING),
        (layout.BACKWARD, 25, 55, 0),
        (layout.OPTIMIZER, 55, 60, 1),
        (layout.CHECKPOINT, 60, 70, 0),
        (layout.DATA_WAIT, 70, 85, 2),
        (layout.FORWARD, 85, 100, layout.WITHOUT_GRADIENTS),
    )
    ms = S // 1000
    spans = [
        (code, start + begin * ms, start + end * ms, argument)
        for start in range(0, 25 * 100 * ms, 100 * ms)
        for code, begin, end, argument in ((layout.STEP, 0, 100, 2), *stages)
    ]
    # WHEN the run is analysed
    report = analysed(make_recording(spans, facts={"process": [{"world_size": 1, "device_kind": "cpu"}]}))
    # THEN the dearer one heads the diagnosis, though its name comes later, and notes stand behind both
    found = [(one.kind, round(one.ms_per_step)) for one in report.findings[:2]]
    assert found == [(Kind.EVALUATION, 30), (Kind.CHECKPOINT_IO, 10)]
    assert all(one.severity is Severity.NOTE for one in report.findings[2:])
    assert report.verdict.startswith("Evaluating takes 30.0 ms per training step")
