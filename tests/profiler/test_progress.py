"""How far a run has come, from files that grow while they are read."""

import json
from pathlib import Path

import numpy as np
import pytest

from trainrx.profiler.agent.format import DATA_WAIT, FACTS_FILE, SPANS_FILE, STEP
from trainrx.profiler.progress import ProgressReader

END = '{"t": 1, "fact": "end", "reason": "%s", "steps": 3}\n'
STACK = json.dumps({"t": 2, "fact": "stack", "number": 1, "frames": [["a.py", 1, "f"]] * 60}) + "\n"


def rank(run: Path, name: str, *, steps: int = 0, facts: str = "") -> Path:
    folder = run / "ranks" / name
    folder.mkdir(parents=True, exist_ok=True)
    records = [(code, at, at + 5_000_000, 1) for at in range(steps) for code in (DATA_WAIT, STEP)]
    with (folder / SPANS_FILE).open("ab") as file:
        file.write(np.array(records, dtype="<i8").tobytes())
    with (folder / FACTS_FILE).open("a") as file:
        file.write(facts)
    return folder


def test_a_run_without_ranks_has_not_begun(tmp_path: Path) -> None:
    progress = ProgressReader(tmp_path).read(1.5)
    assert (progress.seconds, progress.steps, progress.ended) == (1.5, 0, None)


def test_only_what_was_appended_is_read(tmp_path: Path) -> None:
    reader = ProgressReader(tmp_path)
    folder = rank(tmp_path, "0", steps=3)
    assert reader.read(0).steps == 3
    with (folder / SPANS_FILE).open("ab") as file:
        file.write(b"\x1e" + b"\0" * 20)  # a record being written
    assert reader.read(0).steps == 3
    with (folder / SPANS_FILE).open("ab") as file:
        file.write(b"\0" * 11)
    assert reader.read(0).steps == 4


def test_the_rank_that_is_furthest_counts(tmp_path: Path) -> None:
    rank(tmp_path, "0", steps=3)
    rank(tmp_path, "1", steps=5)
    progress = ProgressReader(tmp_path).read(0)
    assert (progress.steps, progress.last_step_s) == (5, 0.005)


@pytest.mark.parametrize(
    ("facts", "ended"),
    [
        ([END % "stopped"], "stopped"),
        ([END % "exit"], "exit"),
        pytest.param([END % "exit", ""], None, id="a helper that exits ends nothing"),
        pytest.param(["", END % "exit"], None, id="nor does a rank that is ready before the others"),
        pytest.param([END % "exit", END % "exit"], "exit", id="all ranks came to their end"),
        pytest.param(
            [END % "exit", END % "stopped"], "stopped", id="enough was recorded, and a helper exited"
        ),
        pytest.param(["", END % "stopped"], "stopped", id="one rank has enough"),
        pytest.param([END % "stopped" + STACK * 3], "stopped", id="stacks written after the end"),
        pytest.param([STACK * 40 + END % "exit"], "exit", id="a long file"),
        pytest.param(['[1, "end"]\n'], None, id="no object"),
        pytest.param(['"end"' + "[" * 60_000], None, id="deep nesting"),
        pytest.param(['{"fact": "end"'], None, id="a torn line"),
    ],
)
def test_how_it_ended(tmp_path: Path, facts: list[str], ended: str | None) -> None:
    for number, text in enumerate(facts):
        rank(tmp_path, str(number), facts=text)
    assert ProgressReader(tmp_path).read(0).ended == ended
