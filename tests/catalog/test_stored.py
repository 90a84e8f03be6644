"""The kept form is used only when it can be trusted, and never needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainrx.catalog import load_catalog
from trainrx.catalog import registry as registry_module
from trainrx.catalog.method import Method
from trainrx.catalog.registry import method_files
from trainrx.catalog.stored import fingerprint, load_stored, store

Write = Callable[..., Path]


@pytest.fixture
def kept(facts: dict[str, Any]) -> tuple[Method, ...]:
    return (Method.model_validate(facts),)


def only_form(cache: Path) -> Path:
    (form,) = cache.glob("methods-*.json")
    return form


def test_what_is_kept_comes_back(kept: tuple[Method, ...]) -> None:
    assert load_stored("key") is None
    store("key", kept)
    assert load_stored("key") == kept


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[:-20],
        lambda content: content.replace(b"Warm shelf", b"Cold shelf"),
        lambda content: b"",
        lambda content: b"\x00" * 64,
        lambda content: content.partition(b"\n")[0] + b"\n[]",
    ],
)
def test_a_spoilt_form_is_ignored_and_written_anew(
    own_cache: Path, kept: tuple[Method, ...], spoil: Callable[[bytes], bytes]
) -> None:
    store("key", kept)
    form = only_form(own_cache)
    form.write_bytes(spoil(form.read_bytes()))
    assert load_stored("key") is None
    store("key", kept)
    assert load_stored("key") == kept


def test_a_forged_digest_does_not_get_past_the_schema(own_cache: Path, kept: tuple[Method, ...]) -> None:
    from trainrx.catalog.stored import _digest

    store("key", kept)
    body = b'[{"id": "x", "run": "me"}]'
    only_form(own_cache).write_bytes(_digest("key", body) + b"\n" + body)
    assert load_stored("key") is None


def test_a_form_of_another_folder_does_not_pass(own_cache: Path, kept: tuple[Method, ...]) -> None:
    store("key", kept)
    only_form(own_cache).rename(own_cache / "methods-other.json")
    assert load_stored("other") is None


def test_a_place_that_cannot_be_written_is_no_fault(own_cache: Path, kept: tuple[Method, ...]) -> None:
    own_cache.write_text("a file where the folder should be")
    store("key", kept)
    assert load_stored("key") is None


def test_old_forms_go(own_cache: Path, kept: tuple[Method, ...]) -> None:
    for number in range(8):
        store(f"key-{number}", kept)
    assert len(list(own_cache.glob("methods-*.json"))) <= 5
    assert list(own_cache.glob("writing-*")) == []


def test_a_changed_file_changes_the_fingerprint(facts: dict[str, Any], folder: Write) -> None:
    place = folder(facts)
    before = fingerprint(method_files(place))
    folder({**facts, "name": "Quite another shelf"})
    assert fingerprint(method_files(place)) != before


def test_the_second_start_parses_no_yaml(
    facts: dict[str, Any], folder: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_catalog(folder(facts))

    def never(path: Path) -> Method:
        raise AssertionError(f"{path} was parsed again")

    monkeypatch.setattr(registry_module, "read_method", never)
    assert dict(load_catalog(folder()).methods) == dict(first.methods)
