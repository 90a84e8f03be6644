"""A place has no field that no rule sets: readers of ``report.json`` would wait for it in vain."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from trainrx.profiler import diagnosis
from trainrx.profiler.report import Where


def fields_set() -> set[str]:
    found: set[str] = set()
    for path in Path(diagnosis.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Where":
                found |= {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    return found


@pytest.mark.parametrize("name", Where.model_fields)
def test_a_rule_sets_every_field_of_a_place(name: str) -> None:
    assert name in fields_set()
