"""Each place that a knob met is told once, and a knob that meets a thing again and again stops looking."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from trainrx.profiler.agent.intervention.journal import MAX_LOOKS, Journal


def told(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in folder.glob("knobs/*") for line in file.read_text().splitlines()]


def test_each_place_is_told_once(tmp_path: Path) -> None:
    # GIVEN a knob that meets a thing at one line in each step, and then at another
    journal = Journal(str(tmp_path))
    for _ in range(3):
        journal.tell("a.knob", "applied", "x")
    line = sys._getframe().f_lineno + 1
    journal.tell("a.knob", "applied", "x")
    # THEN both lines are told, and another event at the same line too
    for event in ("applied", "not applied"):
        journal.tell("a.knob", event, "y")
    records = told(tmp_path)
    assert [(record["line"] - line, record["event"], record["detail"]) for record in records] == [
        (-2, "applied", "x"), (0, "applied", "x"), (3, "applied", "y"), (3, "not applied", "y"),
    ]  # fmt: skip
    assert {record["file"] for record in records} == {__file__}


def test_after_some_looks_no_new_place_is_looked_for(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    for _ in range(MAX_LOOKS):
        journal.tell("a.knob", "applied", "x")
    journal.tell("a.knob", "applied", "x")
    journal.tell("another.knob", "applied", "x")
    assert [record["knob"] for record in told(tmp_path)] == ["a.knob", "another.knob"]


def test_without_a_run_folder_nothing_is_written(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Journal("").tell("a.knob", "applied", "x")
    assert list(tmp_path.iterdir()) == []
