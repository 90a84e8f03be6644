"""Which processes of a run are taken as ranks of one job: blamed for each other's end, compared with each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.analysis import _losses, analyse
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import Kind, RunStatus

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
def analysed_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Analyses recordings as those of one run and returns the kinds of its findings."""

    def kinds(*recordings: RankRecording) -> set[Kind]:
        run = RunFolder(tmp_path)
        run.write_manifest(
            Manifest(id="a", command=[], cwd="", started="", status=RunStatus.FINISHED, exit_code=0)
        )
        monkeypatch.setattr("trainrx.profiler.analysis.read_ranks", lambda path: list(recordings))
        return {finding.kind for finding in analyse(run).report.findings}

    return kinds


@pytest.mark.parametrize(("world_size", "found"), [(1, False), (2, True)])
def test_trainings_that_share_a_run_do_not_wait_for_each_other(
    make_recording: Any, analysed_kinds: Any, world_size: int, found: bool
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
    assert (Kind.STRAGGLERS in analysed_kinds(quick, replace(slow, rank=1))) is found
