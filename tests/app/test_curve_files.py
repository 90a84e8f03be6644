"""Which metric files are found in folders and runs, whose they are, and what is never followed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainrx.advisor.compare.labels import Label
from trainrx.app import curve_files
from trainrx.app.curve_files import (
    command_label,
    folder_sources,
    metric_files,
    named_sources,
    stored_files,
    stored_source,
)
from trainrx.profiler.errors import InputError, UsageError

CSV = "step,acc\n1,0.1\n2,0.2\n"


def write(path: Path, text: str = CSV) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def state(steps: int) -> str:
    log = [{"step": step, "eval_loss": 1.0} for step in range(1, steps + 1)]
    return json.dumps({"log_history": log, "global_step": steps, "max_steps": steps})


def test_a_folder_by_method_and_seed(tmp_path: Path) -> None:
    write(tmp_path / "cosine" / "seed1" / "metrics.csv")
    write(tmp_path / "cosine" / "seed2" / "metrics.csv")
    write(tmp_path / "flat-seed1.jsonl", '{"step":1,"acc":0.1}\n')
    write(tmp_path / "config.json", "{}")
    write(tmp_path / "notes.csv", "name\nnothing\n")
    labels = {source.label for source in folder_sources(tmp_path)}
    assert labels == {Label("cosine", 1), Label("cosine", 2), Label("flat", 1)}


def test_of_a_trainers_checkpoints_the_longest_log_counts(tmp_path: Path) -> None:
    for steps in (3, 12, 7):
        write(tmp_path / "a-seed1" / f"checkpoint-{steps}" / "trainer_state.json", state(steps))
    (source,) = folder_sources(tmp_path)
    assert source.label == Label("a", 1) and source.table.columns["step"].values[-1] == 12


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside" / "secret.csv")
    folder = tmp_path / "curves"
    folder.mkdir()
    (folder / "link.csv").symlink_to(secret)
    (folder / "linked").symlink_to(secret.parent)
    assert metric_files(folder) == []
    with pytest.raises(InputError, match="holds no metric file"):
        folder_sources(folder)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        write(tmp_path / f"{number}.csv")
    monkeypatch.setattr(curve_files, "MAX_RUNS", 3)
    with pytest.raises(UsageError, match="holds 4 metric files"):
        metric_files(tmp_path)
    monkeypatch.setattr(curve_files, "MAX_LOOKED_AT", 2)
    with pytest.raises(UsageError, match="too many files"):
        metric_files(tmp_path)


def test_a_run_gives_its_metrics_its_command_and_its_machine(runs: Path, samples: Any) -> None:
    kept = samples.manifest("r").model_copy(
        update={"command": ["python", "/home/u/train.py", "--lr", "0.1", "--seed", "7"]}
    )
    run = samples.store(runs, "r", report=samples.full_report("r"), kept=kept)
    write(run.path / "metrics.csv")
    write(run.path / "knobs" / "1.jsonl", '{"step":1}\n')
    (source,) = named_sources(["r"], runs)
    assert source.label == Label("train.py --lr 0.1", 7)
    assert source.hardware["device.kind"] == "cpu"
    assert named_sources(["new:2=r"], runs)[0].label == Label("new", 2)


def test_files_beside_and_in_runs_are_offered(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "r", report=samples.full_report("r"))
    inside, beside = write(run.path / "metrics" / "eval.csv"), write(runs / "curves" / "adam-seed3.csv")
    assert stored_files(runs) == [beside, inside]
    assert stored_source(beside, runs).label == Label("adam", 3)
    assert stored_source(inside, runs).label.method == "train.py --lr 0.1"


@pytest.mark.parametrize(
    ("command", "label"),
    [
        (["python", "train.py", "--seed=3"], Label("train.py", 3)),
        (["python", "/a/b/train.py", "--random-seed", "3", "--lr", "1"], Label("train.py --lr 1", 3)),
        (["python", "train.py"], Label("train.py")),
        (["train"], Label("train")),
    ],
)
def test_what_a_command_tells(command: list[str], label: Label) -> None:
    assert command_label(command) == label


@pytest.mark.parametrize("name", ["x" * 300, f"{'x' * 300}.csv", f"a={'x' * 300}.csv"])
def test_a_name_that_no_disk_takes_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        named_sources([name], tmp_path)


def test_a_folder_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        metric_files(tmp_path)


def test_files_beyond_the_limit_are_not_even_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(write(tmp_path / f"{number}.csv")) for number in range(3)]
    monkeypatch.setattr(curve_files, "MAX_RUNS", 1)
    with pytest.raises(UsageError, match="up to 1 metric files"):
        named_sources([*files, str(tmp_path / "missing.csv")], tmp_path)
