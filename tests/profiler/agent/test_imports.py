"""Hooks are installed when a module is really imported, whoever looked for it before."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from trainrx.profiler.agent.imports import ImportWatch

NAME = "a_module_to_watch"


@pytest.fixture
def module_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    finders = list(sys.meta_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / f"{NAME}.py"
    path.write_text("VALUE = 1\nLOADER = type(__loader__).__name__\n")
    yield path
    sys.meta_path[:] = finders
    sys.modules.pop(NAME, None)


@pytest.fixture
def seen(module_file: Path) -> list[ModuleType]:
    modules: list[ModuleType] = []
    ImportWatch().when_imported(NAME, modules.append)
    return modules


def test_it_tells_once_after_the_code_has_run(seen: list[ModuleType]) -> None:
    module = importlib.import_module(NAME)
    importlib.reload(module)
    assert [found.VALUE for found in seen] == [1]


def test_looking_for_a_module_does_not_use_the_watch_up(seen: list[ModuleType]) -> None:
    # GIVEN a library that asks whether the module exists, as transformers does for torch
    spec = importlib.util.find_spec(NAME)
    assert spec is not None and spec.origin is not None and not seen
    # WHEN it is imported afterwards THEN the hook is still called
    importlib.import_module(NAME)
    assert len(seen) == 1


def test_a_failing_import_can_be_tried_again(module_file: Path, seen: list[ModuleType]) -> None:
    good = module_file.read_text()
    module_file.write_text("raise RuntimeError('half a module')")
    with pytest.raises(RuntimeError, match="half a module"):
        importlib.import_module(NAME)
    module_file.write_text(good + "AGAIN = True\n")
    importlib.invalidate_caches()
    importlib.import_module(NAME)
    assert len(seen) == 1


def test_the_module_sees_its_own_loader(seen: list[ModuleType]) -> None:
    module = importlib.import_module(NAME)
    assert module.LOADER == "SourceFileLoader"
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"  # type: ignore[union-attr]


def test_the_watch_leaves_once_everything_was_seen(module_file: Path) -> None:
    watch = ImportWatch()
    watch.when_imported(NAME, lambda module: None)
    assert watch in sys.meta_path
    importlib.import_module(NAME)
    assert watch not in sys.meta_path


def test_a_module_that_is_there_already_is_told_at_once() -> None:
    seen: list[ModuleType] = []
    ImportWatch().when_imported("sys", seen.append)
    assert seen == [sys]


def test_a_missing_module_is_still_missing(seen: list[ModuleType], module_file: Path) -> None:
    module_file.unlink()
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(NAME)
    assert not seen


def test_a_finder_of_the_old_kind_is_passed_over(
    seen: list[ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "meta_path", [sys.meta_path[0], *sys.meta_path[1:]])
    watch = sys.meta_path[0]
    sys.meta_path.insert(1, object())  # type: ignore[arg-type]
    assert watch.find_spec(NAME, None) is not None
