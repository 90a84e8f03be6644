"""What is installed: every folder with Python, and a command line whose help loads nothing heavy."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("catalog", "profiler", "advisor", "app")
HEAVY = {"torch", "pandas", "numpy", "streamlit", "plotly", "pydantic", "rich", "scipy", "pyarrow"}
#: Folders whose Python files travel as data of the package named beside them, because nothing imports them by name.
DATA_FOLDERS = {"profiler/agent/bootstrap": "trainrx.profiler.agent"}


def setuptools_table() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def folders_with_python() -> set[str]:
    return {
        path.parent.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.py")
    }


def test_every_folder_with_python_is_installed() -> None:
    table = setuptools_table()
    listed = set(table["packages"])
    wanted = {"trainrx." + folder.replace("/", ".") for folder in folders_with_python() - DATA_FOLDERS.keys()}
    missing, stale = sorted(wanted - listed), sorted(listed - wanted)
    assert not missing, f"add to [tool.setuptools] packages in pyproject.toml: {missing}"
    assert not stale, f"[tool.setuptools] packages names folders without Python: {stale}"


def test_python_files_that_travel_as_data_are_listed() -> None:
    data = setuptools_table()["package-data"]
    for folder, package in DATA_FOLDERS.items():
        home = package.removeprefix("trainrx.").replace(".", "/")
        assert f"{Path(folder).relative_to(home).as_posix()}/*.py" in data[package]


def test_every_file_that_is_no_python_travels_along() -> None:
    # GIVEN the data files of the rooms, pictures for the README left out
    data = setuptools_table()["package-data"]
    homes = {package: ROOT / package.removeprefix("trainrx.").replace(".", "/") for package in data}
    told = {
        file
        for package, patterns in data.items()
        for pattern in patterns
        for file in homes[package].glob(pattern)
    }
    files = {
        file
        for room in ROOMS
        for file in (ROOT / room).rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    # WHEN those that no pattern names are looked for THEN there is none
    missing = sorted(str(file.relative_to(ROOT)) for file in files - told if "assets" not in file.parts)
    assert not missing, f"add to [tool.setuptools.package-data] in pyproject.toml: {missing}"


def test_no_bare_top_level_package_is_installed() -> None:
    # The recorder runs inside the user's process, where an `app` or `profiler` of the user's own lives.
    ours = {name for name, owners in packages_distributions().items() if "trainrx" in owners}
    assert not ours & set(ROOMS)


def test_help_loads_nothing_heavy() -> None:
    # GIVEN a fresh Python WHEN it prints the command line's help
    code = (
        "import sys, json\nsys.argv = ['trainrx', '--help']\nfrom trainrx.app.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "json.dump(sorted({name.partition('.')[0] for name in sys.modules}), sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # THEN the commands are told and no heavy package was imported
    assert "profile" in done.stdout
    assert not HEAVY & set(json.loads(done.stderr.splitlines()[-1]))
