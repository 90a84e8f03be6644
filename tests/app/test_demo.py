"""The demo: real pictures, made whole or not at all, and a training script that stands on its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from trainrx.app import demo_pictures
from trainrx.app.demo import SCRIPT
from trainrx.app.demo_pictures import TILE_PX, make_pictures
from trainrx.profiler.errors import UsageError
from trainrx.profiler.store import list_runs


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "pictures"
    make_pictures(folder)
    return folder


def test_pictures_are_jpeg_files_in_a_folder_per_class(pictures: Path) -> None:
    assert sorted(folder.name for folder in pictures.iterdir()) == ["china", "flower"]
    files = sorted(pictures.glob("*/*.jpg"))
    assert 200 < len(files) < 1000
    with Image.open(files[0]) as first:
        assert (first.size, first.format) == ((TILE_PX, TILE_PX), "JPEG")


def test_they_are_made_once(pictures: Path) -> None:
    kept = next(pictures.glob("*/*.jpg"))
    before = kept.stat().st_mtime_ns
    assert make_pictures(pictures) == len(list(pictures.glob("*/*.jpg")))
    assert kept.stat().st_mtime_ns == before


def test_they_are_made_in_a_folder_that_is_there_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN an empty folder, or one in which the demo was broken off before
    tile = [("china", Image.new("RGB", (TILE_PX, TILE_PX)))]
    monkeypatch.setattr(demo_pictures, "_photographs", lambda: tile)
    for left in ("", ".part/china"):
        folder = tmp_path / f"data{len(left)}"
        (folder / left).mkdir(parents=True)
        # THEN it has pictures, and nothing else
        assert make_pictures(folder) == 1
        assert [path.name for path in folder.iterdir()] == ["china"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="choose another place with --data"):
        make_pictures(tmp_path / "file" / "pictures")


def test_without_pillow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UsageError, match=r"pip install 'trainrx\[demo\]'"):
        make_pictures(tmp_path / "pictures")


def test_the_script_knows_nothing_of_trainrx() -> None:
    assert "trainrx" not in SCRIPT.read_text()


def test_from_pictures_to_a_verdict(pictures: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "trainrx.app.demo",
            "--data",
            str(pictures),
            "--runs",
            str(tmp_path / "runs"),
            "--steps",
            "8",
        ],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
        env={"TRAINRX_DEMO_NO_UI": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "pictures in" in done.stdout
    (run,) = list_runs(tmp_path / "runs")
    report = run.report()
    assert " ".join(report.verdict.split()) in " ".join(done.stderr.split())
    assert any(str(finding.kind) == "data-loading" for finding in report.findings)
    assert any(where.file and where.file.endswith("train.py") for f in report.findings for where in f.where)
