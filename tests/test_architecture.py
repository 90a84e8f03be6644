"""Who may import whom: read from the source of every file, so that a forbidden import fails before it is ever run."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("catalog", "profiler", "advisor", "app")
FORBIDDEN = {
    "catalog": {"profiler", "advisor", "app"},
    "profiler": {"catalog", "advisor", "app"},
    "advisor": {"app"},
    "app": set(),
}
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """The dotted name that an import names, seen from the checkout: `profiler.store`, `plotly.graph_objects`."""
    if not node.level:
        return node.module or ""
    package = path.relative_to(ROOT).parent.parts
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *(node.module or "").split(".")]).strip(".")


def imports(path: Path) -> set[str]:
    """Every module that a file imports, at its top or inside a function; `trainrx.x` is told as `x`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = absolute(path, node)
            found |= {f"{module}.{alias.name}".strip(".") for alias in node.names}
    return {name.removeprefix("trainrx.") for name in found}


def top(name: str) -> str:
    return name.partition(".")[0]


def test_the_rooms_are_there() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_rooms_import_one_way(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    assert not {name for name in imports(path) if top(name) in FORBIDDEN[room]}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_streamlit_stays_in_pages_and_plotly_in_figures(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    used = {top(imported) for imported in imports(path)}
    if not (name.startswith("app/pages/") or name == "app/dashboard.py"):
        assert "streamlit" not in used
    if not name.startswith(("app/figures/", "app/report/")):
        assert "plotly" not in used


@pytest.mark.parametrize("path", [path for path in FILES if "agent" in path.parts], ids=str)
def test_the_agent_imports_the_standard_library_torch_and_itself(path: Path) -> None:
    allowed = {*sys.stdlib_module_names, "torch"}
    outside = {name for name in imports(path) if top(name) not in allowed}
    assert not {name for name in outside if not name.startswith("profiler.agent")}


@pytest.mark.parametrize("path", [path for path in FILES if "pages" not in path.parts], ids=str)
def test_only_pages_import_trainrx_absolutely(path: Path) -> None:
    tree = ast.walk(ast.parse(path.read_bytes()))
    names = {node.module or "" for node in tree if isinstance(node, ast.ImportFrom) and not node.level}
    if path.name != "dashboard.py":
        assert not {name for name in names if top(name) == "trainrx"}


def test_an_import_that_climbs_out_of_its_room_is_seen(tmp_path: Path) -> None:
    # GIVEN a file of the profiler that imports the app, in the ways Python has
    for line in (
        "from ..app import cli",
        "from .. import app",
        "from trainrx.app import cli",
        "import trainrx.app",
    ):
        path = ROOT / "profiler" / "imagined.py"
        tree = ast.parse(line)
        node = tree.body[0]
        # WHEN its name is resolved THEN it lies in the app
        if isinstance(node, ast.ImportFrom):
            names = {f"{absolute(path, node)}.{alias.name}".strip(".") for alias in node.names}
        else:
            assert isinstance(node, ast.Import)
            names = {alias.name for alias in node.names}
        assert {top(name.removeprefix("trainrx.")) for name in names} == {"app"}
