"""The registry: a user's own methods, relations read both ways, and faults across files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainrx.catalog import Catalog, CatalogError, load_catalog
from trainrx.catalog import registry as registry_module

Write = Callable[..., Path]


def other(facts: dict[str, Any], name: str, **changes: object) -> dict[str, Any]:
    return {**facts, "id": name, "name": name.title(), "how": {"api": "x()"}, **changes}


def test_adding_a_method_is_one_file(facts: dict[str, Any], folder: Write) -> None:
    # GIVEN a file that names its relations to bundled methods WHEN it is read THEN they know of it
    place = folder({**facts, "conflicts_with": ["pin-memory"], "synergises_with": ["amp-bf16"]})
    catalog = load_catalog(place)
    assert catalog.methods["warm-shelf"].name == "Warm shelf"
    assert "warm-shelf" in catalog.conflicts["pin-memory"]
    assert "warm-shelf" in catalog.synergies["amp-bf16"]
    assert catalog.with_knob("shelf.warm") is catalog.methods["warm-shelf"]
    assert catalog.methods["warm-shelf"] in catalog.relieving("data-loading")


def test_the_environment_names_folders_too(
    facts: dict[str, Any], folder: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder(facts)
    monkeypatch.setenv("TRAINRX_METHODS", str(place))
    assert "warm-shelf" in load_catalog().methods
    assert "warm-shelf" in load_catalog(place).methods


@pytest.mark.parametrize(
    ("changes", "field", "told"),
    [
        ({"id": "pin-memory"}, "id", "taken by another file"),
        ({"name": "Pinned host memory"}, "name", "taken by 'pin-memory'"),
        ({"aliases": ["PIN_MEMORY"]}, "name", "taken by 'pin-memory'"),
        ({"how": {"knob": "loader.pin_memory"}}, "how.knob", "taken by 'pin-memory'"),
        ({"conflicts_with": ["no-such"]}, "conflicts_with", "unknown method 'no-such'"),
        ({"synergises_with": ["no-such"]}, "synergises_with", "unknown method 'no-such'"),
        (
            {"conflicts_with": ["pin-memory"], "synergises_with": ["pin-memory"]},
            "conflicts_with",
            "as a conflict and as a synergy",
        ),
    ],
)
def test_faults_across_files(
    facts: dict[str, Any], folder: Write, changes: dict[str, Any], field: str, told: str
) -> None:
    method = {**facts, **changes}
    with pytest.raises(CatalogError) as caught:
        load_catalog(folder(method))
    assert caught.value.field == field
    assert caught.value.file.endswith(".yaml")
    assert told in caught.value.reason


def test_a_file_named_otherwise_than_its_id_is_refused(facts: dict[str, Any], folder: Write) -> None:
    place = folder(facts)
    (place / "warm-shelf.yaml").rename(place / "cold-shelf.yaml")
    with pytest.raises(CatalogError, match=r"cold-shelf\.yaml: field 'id': reads 'warm-shelf'"):
        load_catalog(place)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="absent: is no folder"):
        load_catalog(tmp_path / "absent")


def test_a_folder_with_too_many_files_is_refused(
    facts: dict[str, Any], folder: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "MAX_FILES", 1)
    with pytest.raises(CatalogError, match="at most 1"):
        registry_module.method_files(folder(facts, other(facts, "b")))


def test_search_puts_names_first(bundled: Catalog) -> None:
    found = [method.id for method in bundled.search("torch.compile")]
    assert found[0].startswith("torch-compile")
    assert bundled.search("no such words at all") == ()


def test_search_reads_every_word(bundled: Catalog) -> None:
    for method in bundled.search("jpeg decode gpu"):
        assert "jpeg" in f"{method.id} {method.name} {method.one_line} {method.aliases} {method.how}".lower()


def test_relieving_refuses_an_unknown_word(bundled: Catalog) -> None:
    with pytest.raises(ValueError, match="hunger"):
        bundled.relieving("hunger")
