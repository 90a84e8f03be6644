"""The bundled runs: one per family, real, small, and silent about where they were recorded."""

from __future__ import annotations

import getpass
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.app.bundled import SAMPLES, is_sample, sample_name, sample_run
from trainrx.app.stored import open_run
from trainrx.app.views.advice import can_try
from trainrx.app.views.run_list import headline
from trainrx.catalog import load_catalog
from trainrx.profiler.errors import InputError
from trainrx.profiler.store import list_runs
from trainrx.profiler.vocabulary import Family

from .record import why_not_taken

MAX_BYTES = 1_000_000
NAMES = [sample_name(family) for family in Family]
TEXTS = sorted(SAMPLES.glob("*/*.json"))
#: A path from the root, or a drive; a slash within a word, a fraction or a URL is none.
PATH = re.compile(r"(?:^|[\s\"'(=`:])(?:/[\w.@+-]+/[\w.@+-]|[A-Za-z]:\\|~/)")
FORBIDDEN = re.compile(
    r"/(?:tmp|home|root|work|Users|var|mnt|opt|usr)/|\.venv|@[\w-]+\.\w|(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"
    r"|(?:api|access|secret|auth)[_-]?(?:key|token)|password",
    re.IGNORECASE,
)  # fmt: skip


def strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from (name, *strings(part))
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, str):
        yield value


def test_there_is_one_for_each_family_and_nothing_else() -> None:
    assert sorted(path.name for path in SAMPLES.iterdir()) == sorted(NAMES)
    assert sorted(run.path.name for run in list_runs(SAMPLES)) == sorted(NAMES)
    files = {file.relative_to(SAMPLES).parts[1] for file in SAMPLES.rglob("*") if file.is_file()}
    assert files == {"run.json", "report.json", "steps.parquet"}
    assert sum(file.stat().st_size for file in SAMPLES.rglob("*") if file.is_file()) < MAX_BYTES


@pytest.mark.parametrize("family", list(Family))
def test_each_opens_whole_and_waits_for_what_its_family_says(family: Family) -> None:
    stored = open_run(sample_run(sample_name(family)))
    assert stored.notes == ()
    assert stored.report.run.id == stored.manifest.id == sample_name(family)
    found = headline(stored.report)
    assert found is not None
    assert found.family is family
    assert sum(stage.share for stage in stored.report.stages) == pytest.approx(1, abs=0.001)
    assert stored.steps is not None
    assert len(stored.steps) == stored.report.run.steps_recorded
    assert stored.report.prescriptions
    assert not can_try(stored.report), "its script is not here"


@pytest.mark.parametrize(
    ("family", "waited", "reason"),
    [
        (Family.COMPUTE, 0.02, None),
        (Family.COMPUTE, None, None),
        (Family.COMPUTE, 0.3, "waited 30% of the time for a free core"),
        (Family.MEMORY, 0.02, "it waits for"),
    ],
)
def test_a_run_of_a_busy_machine_or_of_another_family_is_not_taken(
    family: Family, waited: float | None, reason: str | None
) -> None:
    report = sample_run(sample_name(Family.COMPUTE)).report().model_copy(update={"core_wait_share": waited})
    said = why_not_taken(report, family)
    assert said is None if reason is None else said is not None and reason in said


@pytest.mark.parametrize("name", NAMES)
def test_what_it_prescribes_is_in_the_catalog(name: str) -> None:
    known = load_catalog().methods
    assert {found.method for found in sample_run(name).report().prescriptions} <= known.keys()


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(SAMPLES)))
def test_none_tells_where_it_was_recorded(file: Path) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    names = {name for name in (socket.gethostname(), getpass.getuser()) if len(name) > 2}
    for text in strings(content):
        assert not PATH.search(text), text
        assert not FORBIDDEN.search(text), text
        assert not [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)], text
    manifest = json.loads((file.parent / "run.json").read_text(encoding="utf-8"))
    assert (manifest["git"], manifest["launcher_pid"]) == ({}, None)
    assert "machine" not in manifest["versions"]
    assert not Path(manifest["cwd"]).exists()


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*/*.parquet")), ids=lambda file: file.parent.name)
def test_step_tables_hold_numbers_only(file: Path) -> None:
    assert not re.search(rb"/(?:tmp|home|root|work|usr)/", file.read_bytes())


def test_a_path_is_seen() -> None:
    for text in ("/home/u/train.py", "at /tmp/x/train.py:3", '"/work/a', r"C:\Users", "~/runs", "file=/a/b"):
        assert PATH.search(text) or FORBIDDEN.search(text), text
    for text in (
        "train.py:3",
        "site-packages/torch/x.py",
        "0.5 MB/s",
        "https://arxiv.org/abs/1",
        "and/or",
        "2/3",
    ):
        assert not PATH.search(text), text
        assert not FORBIDDEN.search(text), text


def test_a_name_may_be_cut_short_but_must_be_one() -> None:
    assert sample_run("data").path.name == "data-loading"
    assert is_sample("memory") and not is_sample("mem")
    for name in ("", "nothing", "com", "../samples/memory"):
        with pytest.raises(InputError, match="there are data-loading, compute"):
            sample_run(name)
