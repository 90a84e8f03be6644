"""`trainrx report`: one file, named by the run unless told otherwise; one sentence where it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trainrx.app.cli import app
from trainrx.profiler.errors import InputError, UsageError


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["report", *words])


def test_the_newest_run_is_written_under_its_name(
    runs: Path, samples: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples.store(runs, "1-a", report=samples.full_report("1-a"), steps=samples.step_table())
    monkeypatch.chdir(tmp_path)
    done = run()
    assert done.exit_code == 0
    assert done.stdout.startswith("1-a.html (")
    assert samples.VERDICT in (tmp_path / "1-a.html").read_text(encoding="utf-8")


def test_a_run_by_its_folder_as_markdown(runs: Path, samples: Any, tmp_path: Path) -> None:
    stored = samples.store(runs, "1-a", report=samples.full_report("1-a"))
    done = run(str(stored.path), "-o", str(tmp_path / "a.md"))
    assert done.exit_code == 0
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("<!-- trainrx report -->")


def test_what_cannot_be_is_one_sentence(runs: Path, samples: Any, tmp_path: Path) -> None:
    stored = samples.store(runs, "1-a", report=samples.full_report("1-a"))
    (tmp_path / "mine.md").write_text("mine")
    assert isinstance(run("-o", str(tmp_path / "mine.md")).exception, UsageError)
    assert run("-o", str(tmp_path / "mine.md"), "--force").exit_code == 0
    (stored.path / "run.json").write_text("{")
    assert isinstance(run("-o", str(tmp_path / "b.html")).exception, InputError)
    assert not (tmp_path / "b.html").exists()
