"""Changes the arguments that objects of torch are made with, by name, whatever way the script passes them."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from ..imports import ImportWatch

    Arguments = MutableMapping[str, Any]
    Change = Callable[[Any, Arguments], None]


class _Constructor:
    """The changes to one class's ``__init__``."""

    def __init__(self) -> None:
        self.changes: list[Any] = []
        self.after: list[Any] = []

    def wrap(self, kind: type) -> None:
        original: Any = kind.__init__
        signature = inspect.signature(original)

        @wraps(original)
        def __init__(*args: Any, **kwargs: Any) -> None:
            bound = _bind(signature, args, kwargs)
            if bound is None:
                original(*args, **kwargs)
            else:
                self._change(bound)
                original(*bound.args, **bound.kwargs)
            if type(args[0]) is kind or kind.__init__ is type(args[0]).__init__:
                for after in self.after:
                    after(args[0])

        kind.__init__ = __init__

    def _change(self, bound: inspect.BoundArguments) -> None:
        thing = next(iter(bound.arguments.values()))
        bound.apply_defaults()
        for change in self.changes:
            change(thing, bound.arguments)


class Construction:
    """All changed classes of a process."""

    def __init__(self, watch: ImportWatch) -> None:
        self._watch = watch
        self._constructors: dict[tuple[str, str], _Constructor] = {}

    def add(self, module: str, names: tuple[str, ...], change: Change, *, first: bool) -> None:
        """Have ``change(object, arguments)`` run before the ``__init__`` of each class."""
        for name in names:
            changes = self._constructor(module, name).changes
            changes.insert(0 if first else len(changes), change)

    def after(self, module: str, name: str, after: Callable[[Any], None]) -> None:
        """Have ``after(object)`` run once ``__init__`` is done."""
        self._constructor(module, name).after.append(after)

    def _constructor(self, module: str, name: str) -> _Constructor:
        key = (module, name)
        if key not in self._constructors:
            constructor = self._constructors[key] = _Constructor()

            def wrap(imported: Any) -> None:
                kind = getattr(imported, name, None)
                if kind is not None:
                    constructor.wrap(kind)

            self._watch.when_imported(module, wrap)
        return self._constructors[key]


def _bind(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments | None:
    """None for a call that is wrong anyhow: the original raises the error that the user knows."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError:
        return None
