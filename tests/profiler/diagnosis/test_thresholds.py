"""Rules take what they decide by from the one table of thresholds, where it is said where each number comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.profiler import attach, diagnosis
from trainrx.profiler.diagnosis import thresholds

RULES = Path(diagnosis.__path__[0])
FILES = [
    *(path for path in sorted(RULES.rglob("*.py")) if path.name != "thresholds.py"),
    Path(attach.__path__[0]) / "findings.py",
]
#: None, one, several.
COUNTS = (0, 1, 2)
#: Up to this, a number keeps a division from zero.
GUARD = 1e-3
#: Functions that choose the unit in which a number is written.
WORDING = {"ms", "percent", "mega", "_time"}
#: How much of a list is looked at or shown.
LENGTHS = ("MAX_", "SHOWN_")


def bare_numbers(node: ast.AST) -> Iterator[float]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) in (int, float):
            value = part.value
            if isinstance(value, (int, float)) and value not in COUNTS and value > GUARD:
                yield value


def decides(node: ast.AST) -> bool:
    """Whether a node compares, or takes the larger or smaller of numbers."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
    return isinstance(node, ast.Compare)


def outside_the_table(tree: ast.Module) -> Iterator[str]:
    """Lines of a rule that decide by a number which has no name there, or give one a name themselves."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(value=int() | float())) if (
                not name.startswith(LENGTHS)
            ):
                yield f"line {node.lineno}: {name}"
            case ast.FunctionDef(name=name) if name in WORDING:
                pass
            case _:
                deciding = (part for part in ast.walk(node) if decides(part))
                yield from (f"line {part.lineno}: {n}" for part in deciding for n in bare_numbers(part))  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_rule_has_a_threshold_of_its_own(path: Path) -> None:
    assert not list(outside_the_table(ast.parse(path.read_text("utf-8"))))


def test_a_bare_threshold_is_seen() -> None:
    source = "LIMIT = 0.3\ndef find(seen):\n    return seen.share > 0.25 or max(seen.n, 8) >= MANY * 4\n"
    assert len(set(outside_the_table(ast.parse(source)))) == 4


def test_every_threshold_is_explained() -> None:
    # GIVEN the table's source
    lines = Path(thresholds.__file__).read_text("utf-8").splitlines()
    # WHEN a number stands there with a name, THEN a comment stands above it, or above its neighbour
    named = [
        n for n, line in enumerate(lines) if line[:1].isupper() and " = " in line and "Levels" not in line
    ]
    for number in named:
        above = number - 1
        while above in named:
            above -= 1
        assert lines[above].startswith("#:"), lines[number]
