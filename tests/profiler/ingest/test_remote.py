"""Remote files, on fsspec's own file system in memory."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.errors import InputError, UsageError
from trainrx.profiler.ingest.remote import fetched, is_remote, remote_files

memory: Any = pytest.importorskip("fsspec.implementations.memory", reason="fsspec comes with an extra")


@pytest.fixture(autouse=True)
def store() -> Generator[Any]:
    store = memory.MemoryFileSystem()
    store.pipe({"/run/rank0.json": b"zero", "/run/deep/rank1.json": b"one", "/run/.hidden/x": b"no"})
    yield store
    store.rm("/run", recursive=True)


@pytest.mark.parametrize("place", ["s3://bucket/x", "memory://x", "https://host/x.json"])
def test_addresses_are_told_from_paths(place: str) -> None:
    assert is_remote(place)
    assert not is_remote(place.replace("://", "/"))
    assert not is_remote(Path(place))
    assert not is_remote("C:/traces/x.json")


def test_a_folder_means_its_visible_files() -> None:
    found = [(file.url, file.size_bytes) for file in remote_files("memory://run")]
    assert found == [("memory:///run/deep/rank1.json", 3), ("memory:///run/rank0.json", 4)]


def test_a_file_means_itself() -> None:
    assert [file.url for file in remote_files("memory://run/rank0.json")] == ["memory://run/rank0.json"]


def test_a_fetched_file_is_there_for_a_while() -> None:
    seen: list[tuple[int, int]] = []
    with fetched("memory://run/rank0.json", progress=lambda *told: seen.append(told)) as local:
        assert (local.name, local.read_bytes()) == ("rank0.json", b"zero")
    assert not local.exists()
    assert seen == [(4, 4)]


def test_what_is_wrong_with_the_file_is_said_of_the_address() -> None:
    with (
        pytest.raises(InputError, match=r"^memory://run/rank0\.json is no trace$"),
        fetched("memory://run/rank0.json") as local,
    ):
        raise InputError(f"{local} is no trace")


@pytest.mark.parametrize("address", ["memory://nowhere", "memory://run/rank7.json"])
def test_nothing_there_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=f"{address} .*does not exist|holds no file|cannot be read"):
        remote_files(address)
    with pytest.raises(InputError, match=f"{address} cannot be read"), fetched(address):
        pass


def test_an_unknown_form_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"strange://x cannot be read: Protocol not known"):
        remote_files("strange://x")


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UsageError, match=r"trainrx\[remote\]"):
        remote_files("memory://run")


def test_what_such_addresses_need_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    core: Any = pytest.importorskip("fsspec.core")

    def without(url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(core, "url_to_fs", without)
    with pytest.raises(UsageError, match="Install s3fs"):
        remote_files("s3://bucket/run")
