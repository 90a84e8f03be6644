"""The run folder: found by name, readable when damaged, in one sentence when it is not."""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from trainrx.profiler.errors import InputError, UsageError
from trainrx.profiler.report import SCHEMA_VERSION, Report, RunInfo, StageShare
from trainrx.profiler.store import (
    MANIFEST_FILE,
    RESERVE_FILE,
    STEPS_FILE,
    Manifest,
    RunFolder,
    create_run,
    find_run,
    list_runs,
)
from trainrx.profiler.vocabulary import RunStatus, Stage

STARTED = "2026-01-01T00:00:00+00:00"


def manifest(**fields: object) -> Manifest:
    base = {"id": "x", "command": ["python"], "cwd": "/", "started": STARTED, "status": RunStatus.FINISHED}
    return Manifest.model_validate({**base, **fields})


def a_run(runs: Path, name: str, **fields: object) -> RunFolder:
    run = RunFolder(runs / name)
    run.path.mkdir(parents=True)
    run.write_manifest(manifest(id=name, **fields))
    return run


def a_report() -> Report:
    return Report(
        run=RunInfo(id="x", command=["python"], status=RunStatus.FINISHED), verdict="Nothing dominates."
    )


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    written = manifest(exit_code=3, note="a note", options={"steps": 4})
    run = create_run(tmp_path, name="train")
    run.write_manifest(written)
    assert run.manifest == written
    assert list_runs(tmp_path)[0].path == run.path


@pytest.mark.parametrize("name", ["train", "../../etc/passwd", "", "Ünï cödé" * 30, "a/b\\c\n"])
def test_a_run_stays_in_its_store_whatever_the_script_is_called(tmp_path: Path, name: str) -> None:
    assert create_run(tmp_path / "runs", name=name).path.parent == tmp_path / "runs"


def test_a_store_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(UsageError, match="--runs DIR") as caught:
        create_run(tmp_path / "runs", name="train")
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_space_is_kept_for_the_end_and_given_back(tmp_path: Path) -> None:
    run = create_run(tmp_path, name="train")
    assert (run.path / RESERVE_FILE).stat().st_size > 100_000
    run.release_reserve()
    run.release_reserve()
    assert list(run.path.iterdir()) == []


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    run = create_run(tmp_path, name="train")
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UsageError, match="No space left on device"):
        run.write_manifest(manifest())
    with pytest.raises(UsageError, match=r"report\.json"):
        run.write_report(a_report())


@pytest.mark.parametrize(
    ("status", "pid", "started", "shown"),
    [
        (RunStatus.RECORDING, os.getpid(), None, RunStatus.RECORDING),
        (RunStatus.RECORDING, os.getpid(), 12.0, RunStatus.LOST),
        (RunStatus.RECORDING, 2**22 + 5, None, RunStatus.LOST),
        (RunStatus.RECORDING, None, None, RunStatus.LOST),
        (RunStatus.RECORDING, -1, None, RunStatus.LOST),
        (RunStatus.RECORDING, 0, 12.0, RunStatus.LOST),
        (RunStatus.RECORDING, 2**70, 12.0, RunStatus.LOST),
        (RunStatus.FAILED, 2**22 + 5, None, RunStatus.FAILED),
    ],
    ids=["alive", "pid-reused", "gone", "pid-unknown", "negative", "zero", "beyond-all-pids", "ended-before"],
)
def test_a_run_whose_recorder_is_gone_is_lost(
    tmp_path: Path, status: RunStatus, pid: int | None, started: float | None, shown: RunStatus
) -> None:
    run = a_run(tmp_path, "a", status=status, launcher_pid=pid, launcher_started=started)
    assert run.manifest.status is shown


DAMAGED = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b"null",
    b"[" * 200_000,
    b'{"id": "x"}',
    b'{"schema_version": "one"}',
    b"\0" * 99,
]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_one_sentence(tmp_path: Path, text: bytes) -> None:
    run = a_run(tmp_path, "a")
    (run.path / "report.json").write_bytes(text)
    with pytest.raises(InputError, match=r"report\.json is damaged") as caught:
        run.report()
    assert "\n" not in str(caught.value) and caught.value.exit_code == 3
    (run.path / "run.json").write_bytes(text)
    with pytest.raises(InputError, match=r"run\.json is damaged") as caught:
        _ = run.manifest
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", ["-1", "1e300", "NaN", "Infinity", "17"])
def test_a_share_that_is_none_is_damage(tmp_path: Path, share: str) -> None:
    run = a_run(tmp_path, "a")
    stages = [StageShare(name=Stage.HOST, seconds_per_step=1, share=0.12345)]
    text = a_report().model_copy(update={"stages": stages}).to_json().replace("0.12345", share)
    (run.path / "report.json").write_text(text)
    with pytest.raises(InputError, match="share"):
        run.report()


def test_a_newer_schema_asks_for_an_upgrade(tmp_path: Path) -> None:
    run = a_run(tmp_path, "a", schema_version=SCHEMA_VERSION + 1)
    with pytest.raises(InputError, match="upgrade trainrx"):
        _ = run.manifest
    newer = a_report().model_copy(update={"schema_version": SCHEMA_VERSION + 1})
    run.write_report(newer)
    with pytest.raises(InputError, match="upgrade trainrx"):
        run.report()


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        _ = RunFolder(tmp_path).manifest


def test_a_file_beyond_all_size_is_not_read(tmp_path: Path) -> None:
    run = a_run(tmp_path, "a")
    with (run.path / "report.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="larger than"):
        run.report()


def test_a_damaged_step_table_is_one_sentence(tmp_path: Path) -> None:
    run = a_run(tmp_path, "a")
    assert run.steps() is None
    (run.path / "steps.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(InputError, match="is damaged"):
        run.steps()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop(columns="phase"), "it has no column phase"),
        (lambda table: table.drop(columns=list(table)), "it has no column duration_s"),
        (lambda table: table.assign(duration_s="long"), "duration_s is of a wrong type"),
        (lambda table: table.assign(outlier="yes"), "outlier is of a wrong type"),
        (lambda table: table.assign(duration_s=float("nan")), "it has empty cells"),
    ],
    ids=["no-phase", "nothing", "text-for-seconds", "text-for-outliers", "empty-cells"],
)
def test_a_step_table_without_its_columns_is_one_sentence(
    tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], said: str
) -> None:
    run = a_run(tmp_path, "a")
    table = pd.DataFrame(
        {"step": [0, 1], "duration_s": [0.1, 0.2], "phase": "timed", "outlier": False, "forward": [0.1, 0.2]}
    )
    table.to_parquet(run.path / STEPS_FILE)
    assert run.steps() is not None
    change(table).to_parquet(run.path / STEPS_FILE)
    with pytest.raises(InputError, match=said):
        run.steps()


def test_a_whole_id_is_found_though_another_one_begins_with_it(tmp_path: Path) -> None:
    run = a_run(tmp_path, "2026-a-1")
    a_run(tmp_path, "2026-a-1-copy")
    assert find_run("2026-a-1", tmp_path).path == run.path
    with pytest.raises(InputError, match=r"2 runs .* begin with 2026"):
        find_run("2026", tmp_path)


def test_runs_are_found_by_folder_id_beginning_and_last(tmp_path: Path) -> None:
    first, second = a_run(tmp_path, "2026-a-1"), a_run(tmp_path, "2026-b-2")
    (tmp_path / "no run").mkdir()
    assert [run.path.name for run in list_runs(tmp_path)] == ["2026-b-2", "2026-a-1"]
    for name in (str(first.path), "2026-a-1", "2026-a"):
        assert find_run(name, tmp_path).path == first.path
    assert find_run("last", tmp_path).path == second.path


def test_a_renamed_run_keeps_its_place(tmp_path: Path) -> None:
    # GIVEN a run that was given a name of its own, between two that were not, and one that cannot be read
    for name, day in (("20260301-120000-a-0001", 1), ("before my change", 2), ("20260303-120000-a-0002", 3)):
        a_run(tmp_path, name, started=f"2026-03-0{day}T12:00:00+00:00")
    (a_run(tmp_path, "zzz").path / MANIFEST_FILE).write_text("{")
    # WHEN runs are listed THEN the newest is first
    listed = [run.path.name for run in list_runs(tmp_path)]
    assert listed == ["20260303-120000-a-0002", "before my change", "20260301-120000-a-0001", "zzz"]
    assert find_run("last", tmp_path).path.name == "20260303-120000-a-0002"


@pytest.mark.parametrize("name", ["nothing", "2026", "", "\0", "x" * 5000, "*", "../.."])
def test_a_run_that_is_not_there_is_one_sentence(tmp_path: Path, name: str) -> None:
    a_run(tmp_path, "2026-a-1")
    a_run(tmp_path, "2026-b-2")
    with pytest.raises(InputError) as caught:
        find_run(name, tmp_path)
    assert caught.value.exit_code == 3


def test_an_empty_store_says_how_to_record(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="record one with `trainrx profile`"):
        find_run("last", tmp_path / "nowhere")
