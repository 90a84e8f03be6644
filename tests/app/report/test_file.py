"""Where a report is written: only where nothing of the user's is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainrx.app.report.contents import contents
from trainrx.app.report.file import is_report, target
from trainrx.app.stored import open_run
from trainrx.profiler.errors import UsageError


@pytest.fixture
def report(runs: Path, samples: Any) -> Any:
    return contents(open_run(samples.store(runs, "a", report=samples.full_report("a"))))


@pytest.mark.parametrize("name", ["a.html", "A.HTML", "a.htm", "a.md", "a.markdown"])
def test_the_suffix_decides_and_a_report_may_be_replaced(tmp_path: Path, report: Any, name: str) -> None:
    path = tmp_path / name
    size = target(path).write(report)
    assert path.stat().st_size == size
    assert is_report(path)
    assert target(path).write(report) == size
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [name]


@pytest.mark.parametrize("name", ["a.pdf", "a", "html"])
def test_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"must end in \.html or \.md"):
        target(tmp_path / name)


@pytest.mark.parametrize("held", [b"<!doctype html><p>mine", b"", b"\xff\xfe"])
def test_a_file_of_the_users_is_kept_unless_forced(tmp_path: Path, report: Any, held: bytes) -> None:
    path = tmp_path / "mine.html"
    path.write_bytes(held)
    with pytest.raises(UsageError, match="no report of trainrx"):
        target(path)
    assert path.read_bytes() == held
    target(path, force=True).write(report)
    assert is_report(path)


def test_a_folder_and_a_place_that_is_not_there_are_said(tmp_path: Path, report: Any) -> None:
    (tmp_path / "a.html").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        target(tmp_path / "a.html", force=True)
    with pytest.raises(UsageError, match="cannot write"):
        target(tmp_path / "nowhere" / "a.html").write(report)
    assert not (tmp_path / "nowhere").exists()


def test_a_name_that_no_disk_takes_is_said(tmp_path: Path, report: Any) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        target(tmp_path / f"{'x' * 300}.html").write(report)
