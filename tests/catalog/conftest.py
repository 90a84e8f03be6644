"""A method file in memory, a folder of method files, and the bundled catalog read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainrx.catalog import Catalog, load_catalog


@pytest.fixture(scope="session")
def bundled() -> Catalog:
    return load_catalog()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr("trainrx.catalog.stored.platformdirs.user_cache_dir", lambda *_, **__: str(place))
    monkeypatch.delenv("TRAINRX_METHODS", raising=False)
    return place / "catalog"


@pytest.fixture
def facts() -> dict[str, Any]:
    """The data of a method file that is in order."""
    return {
        "id": "warm-shelf",
        "name": "Warm shelf",
        "one_line": "Keeps tomorrow's batches warm.",
        "reference": {"title": "On Warm Shelves", "authors": "Baker", "year": 2020, "arxiv": "2001.00001"},
        "placement": {
            "component": "system",
            "subcomponent": "input-pipeline",
            "category": "system-centric",
            "subcategory": "data-preloading",
        },
        "relieves": ["data-loading"],
        "equivalence": "exact",
        "needs": ["loader.num_workers > 0"],
        "how": {"api": "shelf.warm()", "knob": "shelf.warm"},
        "quality_risk": "none",
        "tier": "core",
        "sure": {"bibliography": "high"},
        "expects": [{"metric": "data_wait", "direction": "falls", "at_least": 0.2}],
        "evidence": [
            {
                "gain": 1.2,
                "gain_kind": "throughput",
                "source": "2001.00001",
                "grade": "C",
                "reported": "a fifth more loaves",
            }
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes method files, named by their id, to a folder of one's own."""

    def write(*methods: dict[str, Any]) -> Path:
        place = tmp_path / "own"
        place.mkdir(exist_ok=True)
        for method in methods:
            (place / f"{method['id']}.yaml").write_text(yaml.safe_dump(method), encoding="utf-8")
        return place

    return write
