"""The list of runs: a row for every folder, whatever state it is in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.app.views.run_list import RunRow, families, load_row, matching, run_row, script_name
from trainrx.profiler.vocabulary import RunStatus, Severity


def test_a_run_that_was_analysed(samples: Any) -> None:
    row = run_row(samples.manifest("a"), samples.full_report("a"), name="a")
    assert (row.script, row.status, row.verdict) == ("train.py", "finished", samples.VERDICT)
    assert (row.step_time, row.worst, row.started) == ("99.0 ms", "data loading", "2026-11-30 16:15 UTC")


def test_a_healthy_run_waits_for_nothing(samples: Any) -> None:
    report = samples.full_report(findings=[samples.finding(Severity.NOTE)])
    assert run_row(samples.manifest("a"), report, name="a").worst == "none"


def test_a_run_without_steps_waits_for_nothing_known(samples: Any) -> None:
    report = samples.full_report(step_time=None, findings=[])
    row = run_row(samples.manifest("a"), report, name="a")
    assert (row.worst, row.step_time, row.step_ms) == (None, None, None)


def test_a_damaged_run_is_listed_with_its_reason(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    (run.path / "run.json").write_text('{"id"')
    row = load_row(run)
    assert (row.id, row.status, row.readable) == ("a", "unreadable", False)
    assert "is damaged" in row.verdict


def test_a_run_of_a_newer_trainrx_says_so(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    kept = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**kept, "schema_version": 99}))
    row = load_row(run)
    assert not row.readable
    assert "upgrade trainrx" in row.verdict


def test_a_damaged_report_leaves_the_rest_of_the_row(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    (run.path / "report.json").write_text("[]")
    row = load_row(run)
    assert (row.script, row.status, row.readable) == ("train.py", "finished", True)
    assert "report.json is damaged" in row.verdict


@pytest.mark.parametrize(
    ("status", "word"),
    [(RunStatus.LOST, "killed before it could finish"), (RunStatus.FINISHED, "open it to analyse")],
)
def test_a_run_without_a_report_says_what_to_do(
    runs: Path, samples: Any, status: RunStatus, word: str
) -> None:
    run = samples.store(runs, "a", kept=samples.manifest("a", status))
    assert word in load_row(run).verdict


def test_a_run_going_on_can_be_followed(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", kept=samples.recording_manifest("a"))
    row = load_row(run)
    assert (row.status, row.step_ms) == ("recording", None)
    assert "follow" in row.verdict


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/usr/bin/python3", "src/train.py", "x.py"], "train.py"),
        (["/usr/bin/python3", "-m", "pkg.train"], "pkg.train"),
        (["torchrun", "--nproc-per-node", "2", "train.py"], "train.py"),
        (["/opt/bin/launch", "--fast"], "launch"),
        (["C:\\py.exe", "C:\\work\\train.py"], "train.py"),
        ([], ""),
    ],
)
def test_a_command_is_named_by_its_script(command: list[str], name: str) -> None:
    assert script_name(command) == name


def row(id: str, verdict: str, worst: str | None) -> RunRow:
    return RunRow(id, "train.py", "finished", verdict, None, None, worst, None)


ROWS = [row("a", "waits for data", "data loading"), row("b", "nothing", "none"), row("c", "broken", None)]


def test_words_and_families_narrow_the_list() -> None:
    assert [r.id for r in matching(ROWS, words="Data WAITS", families=[])] == ["a"]
    assert [r.id for r in matching(ROWS, words="", families=["none", "data loading"])] == ["a", "b"]
    assert families(ROWS) == ["data loading", "none"]


@given(words=st.text(max_size=20), chosen=st.lists(st.sampled_from(["none", "data loading"])))
def test_narrowing_never_adds_or_reorders(words: str, chosen: list[str]) -> None:
    kept = matching(ROWS, words=words, families=chosen)
    assert kept == [r for r in ROWS if r in kept]


def test_a_launcher_is_not_the_script() -> None:
    words = ["python", "-m", "torch.distributed.run", "--nproc-per-node", "2", "x/ddp.py", "-m", "1"]
    assert script_name(words) == "ddp.py"
    assert script_name(["python", "-m", "torch.distributed.run", "-m", "package.train"]) == "package.train"
