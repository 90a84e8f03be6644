"""`trainrx samples`: the list, one of them, and what is no name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trainrx.app.bundled import SAMPLES
from trainrx.app.cli import app
from trainrx.profiler.errors import InputError

NAMES = ["data-loading", "compute", "memory", "communication", "beside-the-loop"]


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["samples", *words])


def test_the_list_has_a_line_for_each_family() -> None:
    done = run()
    assert done.exit_code == 0
    for name in NAMES:
        assert name in done.stdout
    assert "beside the loop" in done.stdout
    listed = json.loads(run("--json").stdout)
    assert [row["name"] for row in listed] == NAMES
    assert [Path(row["folder"]) for row in listed] == [SAMPLES / name for name in NAMES]
    assert all(row["verdict"] for row in listed)


@pytest.mark.parametrize("name", NAMES)
def test_one_is_shown_like_any_run(name: str) -> None:
    done = run(name)
    assert done.exit_code == 0
    assert "What to try" in done.stdout
    assert "recorder: cost about" in done.stdout
    assert "an example" in done.stdout
    assert json.loads(run(name, "--json").stdout)["run"]["id"] == name


def test_another_name_is_one_sentence() -> None:
    done = run("gpu")
    assert isinstance(done.exception, InputError)
    assert "there are data-loading, compute" in str(done.exception)


def test_with_ui_the_dashboard_is_opened_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("trainrx.app.serve.serve", lambda runs, **how: asked.update(runs=runs, **how) or 0)
    assert run("mem", "--ui", "--no-browser").exit_code == 0
    assert (asked["runs"], asked["page"], asked["query"]) == (SAMPLES, "diagnosis", {"run": "memory"})
    assert asked["open_browser"] is False


def test_a_report_of_one_can_be_written_and_it_cannot_be_tried(tmp_path: Path) -> None:
    folder = str(SAMPLES / "memory")
    done = CliRunner().invoke(app, ["report", folder, "-o", str(tmp_path / "a.md")])
    assert done.exit_code == 0
    tried = CliRunner().invoke(app, ["try", folder, "loader.num_workers=1"])
    assert isinstance(tried.exception, InputError)
    assert not (SAMPLES / "memory" / "trials").exists()
