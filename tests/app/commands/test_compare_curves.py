"""``trainrx compare --curves``: two learning-rate schedules trained here and compared, and every way to name trainings."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trainrx.app.cli import main

Schedule = Callable[[float], float]
SEEDS = (1, 2, 3)
STEPS, EVERY = 240, 20
SCHEDULES: dict[str, Schedule] = {
    "timid": lambda done: 0.03 if done < 0.9 else 0.03 * (1 - done) / 0.1,
    "one-cycle": lambda done: 0.6 * done / 0.2 if done < 0.2 else 0.6 * (1 - done) / 0.8,
}


def train(schedule: Schedule, seed: int, data: Any) -> Iterator[dict[str, float]]:
    """Train a small network on handwritten digits; gives a row of metrics at every evaluation."""
    import torch

    (inputs, targets), (held_out, answers) = data
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(64, 24), torch.nn.ReLU(), torch.nn.Linear(24, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, STEPS + 1):
        rate = schedule(step / STEPS)
        optimizer.param_groups[0]["lr"] = rate
        chosen = torch.randint(0, len(inputs), (64,), generator=generator)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs[chosen]), targets[chosen]).backward()
        optimizer.step()
        if step % EVERY == 0:
            with torch.no_grad():
                right = (model(held_out).argmax(1) == answers).double().mean()
            yield {"step": step, "lr": rate, "val_accuracy": float(right)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Metric files of both schedules, three seeds each."""
    torch = pytest.importorskip("torch")
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    inputs, targets = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    data = (inputs[:1400], targets[:1400]), (inputs[1400:], targets[1400:])
    folder = tmp_path_factory.mktemp("curves")
    for name, schedule in SCHEDULES.items():
        for seed in SEEDS:
            with (folder / f"{name}-seed{seed}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, ["step", "lr", "val_accuracy"])
                writer.writeheader()
                writer.writerows(train(schedule, seed, data))
    return folder


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs the command; gives its exit code, what it printed, and its complaint."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TRAINRX_RUNS", str(tmp_path / "runs"))

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["trainrx", "compare", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


def test_the_bolder_schedule_is_cheaper(folder: Path, compare: Any) -> None:
    # GIVEN three seeds of two schedules WHEN they are compared
    code, printed, _ = compare("--curves", folder, "--baseline", "timid", "--json")
    found = json.loads(printed)
    timid, bold = found["methods"]
    # THEN the bolder one is cheaper at the best quality that both reach, with an interval above 1
    assert code == 0 and (found["metric"], found["better"]) == ("val_accuracy", "higher")
    assert found["cost"] == {"name": "steps", "unit": "steps"}
    assert (timid["name"], bold["name"], bold["outcome"]) == ("timid", "one-cycle", "cheaper")
    assert bold["speedup"]["low"] > 1.5 and len(bold["speedups"]) > 10
    assert [run["seed"] for run in bold["runs"]] == [1, 2, 3]
    # THEN what the files tell is known, and what they do not tell is asked
    standing = {check["rule"]: check["standing"] for check in found["checks"]}
    assert standing["schedule-ended"] == standing["same-budget"] == standing["seeds"] == "kept"
    assert standing["baseline-tuned"] == standing["evaluation-data"] == "asked"
    assert not any(check["forbids_headline"] for check in found["checks"])


def test_a_schedule_against_itself_gives_no_evidence(folder: Path, compare: Any) -> None:
    files = [f"{name}:{seed}={folder / f'timid-seed{seed}.csv'}" for name in ("a", "b") for seed in SEEDS]
    code, printed, _ = compare("--curves", *files)
    assert code == 0
    assert printed.startswith("No evidence that b needs less or more than a to reach val_accuracy")
    assert "1.00×" in printed


def test_one_seed_each_claims_nothing_and_says_why(folder: Path, compare: Any) -> None:
    _, printed, _ = compare("--curves", folder / "timid-seed1.csv", folder / "one-cycle-seed1.csv")
    assert "nothing is claimed with fewer than 3 seeds a method" in printed
    assert "single run" in printed


def test_an_answer_no_takes_the_number_away(folder: Path, compare: Any) -> None:
    _, printed, _ = compare("--curves", folder, "--baseline", "timid", "--answer", "baseline-tuned=no")
    assert printed.startswith("No headline number: Was the baseline timid tuned as hard")
    assert "✗ Was the baseline" in printed and "You said no." in printed


def test_a_target_that_nobody_reaches(folder: Path, compare: Any) -> None:
    _, printed, _ = compare("--curves", folder, "--target", "0.9999")
    assert "never reached" in printed and "neither reaches the target" in printed


def test_without_names_the_folder_beside_the_runs_is_compared(
    folder: Path, compare: Any, tmp_path: Path
) -> None:
    code, _, complaint = compare("--curves")
    assert code == 2 and "needs metric files" in complaint
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "curves").symlink_to(folder)
    code, printed, _ = compare("--curves")
    assert code == 0 and "one-cycle" in printed


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--metric", "loss"], 3, "has no column 'loss'"),
        (["--metric", "lr"], 2, "does not tell which way it gets better"),
        (["--better", "best"], 2, "say lower or higher"),
        (["--cost", "seconds"], 3, "does not tell its cost in seconds"),
        (["--answer", "seeds"], 2, "give RULE=yes or RULE=no"),
        (["--answer", "seeds=yes"], 2, "no rule that can be answered"),
        (["--target", "nan"], 2, "give a finite number"),
        (["--baseline", "none"], 2, "no method 'none'"),
        (["missing.csv"], 3, "missing.csv cannot be read"),
        (["a-run"], 3, "no run called a-run"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    folder: Path, compare: Any, words: list[str], code: int, sentence: str
) -> None:
    ended, printed, complaint = compare("--curves", folder, *words)
    assert (ended, printed) == (code, "")
    assert sentence in complaint and complaint.count("\n") == 1


def test_options_of_curves_need_curves(compare: Any) -> None:
    code, _, complaint = compare("a", "b", "--metric", "loss")
    assert code == 2 and "need --curves" in complaint
    assert compare("a")[0] == 2
