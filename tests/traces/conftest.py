"""The recorded traces that lie beside a checkout; without them these tests skip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "traces"
WHY = "the recorded traces (../shared/traces) are not beside this checkout"


def _facts() -> dict[str, Any]:
    path = SHARED / "facts.json"
    return json.loads(path.read_bytes()) if path.is_file() else {"files": {}, "groups": {}}


FACTS = _facts()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Fill `any_file`, `timeline_file` and `group` from the folder; tests on one file run in a row."""
    files = FACTS["files"]
    lists = {
        "any_file": list(files),
        "timeline_file": [name for name, told in files.items() if "window_totals" in told],
        "group": [name for name in FACTS["groups"] if name.endswith("8rank")],
    }
    for name, values in lists.items():
        if name in metafunc.fixturenames:
            skip = pytest.param(None, marks=pytest.mark.skip(reason=WHY))
            metafunc.parametrize(name, values or [skip], scope="module")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded traces."""
    if not FACTS["files"]:
        pytest.skip(WHY)
    return SHARED


@pytest.fixture(scope="session")
def facts() -> dict[str, Any]:
    """The figures worked out for them independently."""
    return FACTS
