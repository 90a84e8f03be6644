"""The catalog imports nothing of ours, and nothing heavy."""

import ast
from pathlib import Path

import trainrx.catalog

FORBIDDEN = {"trainrx", "streamlit", "plotly", "pandas", "numpy", "torch", "pickle", "marshal", "shelve"}


def test_the_catalog_stands_alone() -> None:
    for path in Path(trainrx.catalog.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{path.name} imports from another room"
                names = {(node.module or "").partition(".")[0]} if node.level == 0 else set()
            elif isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names}
            else:
                continue
            assert not names & FORBIDDEN, f"{path.name} imports {names & FORBIDDEN}"


def test_nothing_is_evaluated() -> None:
    for path in Path(trainrx.catalog.__file__).parent.glob("*.py"):
        calls = (
            n.func for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)
        )
        named = {function.id for function in calls if isinstance(function, ast.Name)}
        assert not named & {"eval", "exec", "compile", "__import__"}, path.name
