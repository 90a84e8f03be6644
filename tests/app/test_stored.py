"""Opening runs: the kept report, a fresh analysis, damage, and names that lead elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainrx.app import advising
from trainrx.app.stored import current_report, fingerprint, named_run, open_run, status_of
from trainrx.profiler.errors import InputError
from trainrx.profiler.report import Report, WhatIf
from trainrx.profiler.vocabulary import RunStatus


def test_a_finished_run_is_read_as_it_was_analysed(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", report=samples.full_report("a"), steps=samples.step_table())
    stored = open_run(run)
    assert stored.report.verdict == samples.VERDICT == current_report(run).verdict
    assert stored.steps is not None
    assert (stored.notes, stored.recording) == ((), False)


def test_a_run_without_a_report_is_analysed_and_left_as_it_is(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", kept=samples.manifest("a", options={"warmup": 2}))
    samples.write_recording(run, 12)
    before = sorted(path.name for path in run.path.iterdir())
    stored = open_run(run)
    assert stored.report.step_time is not None
    assert stored.report.step_time.n == 10
    assert sorted(path.name for path in run.path.iterdir()) == before


def test_a_run_going_on_is_analysed_whatever_is_stored(runs: Path, samples: Any) -> None:
    kept = samples.recording_manifest("a")
    run = samples.store(runs, "a", kept=kept, report=samples.full_report("a"))
    samples.write_recording(run, 8)
    stored = open_run(run)
    assert stored.recording
    assert stored.report.run.steps_recorded == 8


def test_a_damaged_report_is_made_anew_and_said(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    samples.write_recording(run, 12)
    (run.path / "report.json").write_text("{")
    stored = open_run(run)
    assert stored.report.step_time is not None
    assert "analysed anew" in stored.notes[0]


@pytest.mark.parametrize("opened", [current_report, lambda run: open_run(run).report], ids=["shown", "drawn"])
def test_a_run_is_analysed_with_what_ifs_whoever_opens_it(
    runs: Path, samples: Any, monkeypatch: pytest.MonkeyPatch, opened: Any
) -> None:
    # GIVEN a run without a report, whose trace can be replayed
    def replayed(report: Report, folder: Path) -> Report:
        found = WhatIf(
            change="launch cost removed",
            measured_step_s=0.1,
            predicted_step_s=0.08,
            bound_step_s=0.07,
            unexplained_share=0.0,
        )
        return report.model_copy(update={"what_ifs": [found]})

    monkeypatch.setattr(advising, "with_what_ifs", replayed)
    run = samples.store(runs, "a", kept=samples.manifest("a", options={"warmup": 2}))
    samples.write_recording(run, 12)

    # THEN predictions that rest on the replay are the same in the terminal and in the dashboard
    assert [one.change for one in opened(run).what_ifs] == ["launch cost removed"]


@pytest.mark.parametrize("changes", [{"sources": {"0": "rank0.json"}}, {"status": RunStatus.ATTACHED}])
def test_what_was_never_recorded_is_not_analysed_anew(runs: Path, samples: Any, changes: Any) -> None:
    run = samples.store(runs, "a", kept=samples.manifest("a").model_copy(update=changes))
    for text in ("{", None):
        (run.path / "report.json").unlink(missing_ok=True)
        if text is not None:
            (run.path / "report.json").write_text(text)
        with pytest.raises(InputError, match=r"report\.json (is damaged|does not exist)"):
            open_run(run)


def test_a_damaged_step_table_leaves_the_report(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", report=samples.full_report("a"))
    (run.path / "steps.parquet").write_bytes(b"zzz")
    stored = open_run(run)
    assert stored.steps is None
    assert "steps.parquet is damaged" in stored.notes[0]


def test_an_empty_step_table_is_none(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", report=samples.full_report("a"), steps=samples.step_table().iloc[:0])
    assert open_run(run).steps is None


def test_of_a_damaged_recording_what_is_whole_is_shown(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    samples.write_recording(run, 3)
    (run.path / "ranks" / "0" / "facts.jsonl").write_text('{"t": 0, "fact": "stack", "number": "x"}\n')
    assert open_run(run).report.run.steps_recorded == 3


def test_the_fingerprint_follows_the_files(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", kept=samples.recording_manifest("a"))
    samples.write_recording(run, 3)
    still, growing = fingerprint(run), fingerprint(run, growing=True)
    samples.write_recording(run, 4)
    assert fingerprint(run) == still
    assert fingerprint(run, growing=True) != growing


def test_a_recorder_that_is_gone_is_seen(runs: Path, samples: Any) -> None:
    gone = samples.recording_manifest("a").model_copy(update={"launcher_started": 1.0})
    assert status_of(samples.store(runs, "a", kept=gone)) is RunStatus.LOST
    broken = samples.store(runs, "b")
    (broken.path / "run.json").write_text("")
    assert status_of(broken) is None


OUTSIDE = [
    "../secret",
    "..",
    ".",
    "",
    "a/../../secret",
    "/etc",
    "a/",
    "a\x00",
    "..\\secret",
    "%2e%2e/secret",
    "*",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out_of_the_folder(runs: Path, samples: Any, name: str) -> None:
    samples.store(runs, "a")
    samples.store(runs.parent, "secret")
    with pytest.raises(InputError, match="there is no run called"):
        named_run(name, runs)


def test_an_absolute_path_to_a_real_run_outside_is_refused(runs: Path, samples: Any) -> None:
    secret = samples.store(runs.parent, "secret")
    with pytest.raises(InputError):
        named_run(str(secret.path), runs)
    assert named_run(samples.store(runs, "b").path.name, runs).path == runs / "b"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(name=st.text(alphabet="ab./\\~$%*?[]\x00 -", max_size=12))
def test_only_listed_names_open_a_run(runs: Path, samples: Any, name: str) -> None:
    if not (runs / "a").exists():
        samples.store(runs, "a")
        samples.store(runs.parent, "b")
    try:
        found = named_run(name, runs)
    except InputError:
        return
    assert (found.path.parent, found.path.name) == (runs, "a")
