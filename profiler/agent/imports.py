"""Runs a function right after a module was first imported, wherever the import comes from.

The finder only wraps the loader that the other finders name; it loads nothing itself and forgets a module once its
code has run. That somebody merely looked for a module (``importlib.util.find_spec``) changes nothing.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    AfterImport = Callable[[ModuleType], None]


class _NotifyingLoader(Loader):
    """The real loader, with calls after the module's code has run."""

    def __init__(self, loader: Any, after: AfterImport) -> None:
        self._loader = loader
        self._after = after

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._after(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class ImportWatch(MetaPathFinder):
    """A finder on ``sys.meta_path`` that tells of the imports it was asked to watch."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[AfterImport]] = {}

    def when_imported(self, name: str, after: AfterImport) -> None:
        """Call ``after(module)`` once ``name`` is imported; at once if it already is."""
        module = sys.modules.get(name)
        if module is not None:
            after(module)
            return
        self._waiting.setdefault(name, []).append(after)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Wrap the loader of a module that is waited for; None for all others."""
        if fullname not in self._waiting:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _NotifyingLoader(spec.loader, self._imported)
                return spec
        return None

    def _imported(self, module: ModuleType) -> None:
        for after in self._waiting.pop(module.__name__, []):
            after(module)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
