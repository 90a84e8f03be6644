"""Meets the models of a script: the modules with parameters that are called outermost.

For the first steps it looks at every module call; after that only calls of the classes that were met are looked at,
and those only if a knob runs them in a context of its own. So a knob costs the modules inside a model next to nothing.
"""

from __future__ import annotations

import sys
import weakref
from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..imports import ImportWatch
    from .steps import StepWatch

    Call = Callable[..., Any]
    Around = Callable[[Any, Call, tuple[Any, ...], dict[str, Any]], Any]

#: Optimizer steps after which no new class of model is looked for.
DISCOVERY_STEPS = 4


class ModelCalls:
    """The outermost module calls of one process."""

    def __init__(self, watch: ImportWatch, steps: StepWatch, skip_in_dynamo: Callable[[Any], None]) -> None:
        self._watch = watch
        self._skip_in_dynamo = skip_in_dynamo
        self._steps = steps
        self._meet: list[Callable[[Any], None]] = []
        self._around: list[Around] = []
        self._met: weakref.WeakSet[Any] = weakref.WeakSet()
        self._classes: set[type] = set()
        self._base_call: Any = None
        self._own_call: Any = None
        self._thread: int | None = None
        self._inside = False
        self._passes_by = False
        self._steps_left = DISCOVERY_STEPS

    def meet(self, function: Callable[[Any], None]) -> None:
        """Call ``function(module)`` once for each model."""
        self._meet.append(function)

    def around(self, function: Around) -> None:
        """Run each model's calls through ``function``; the first one given is the outermost."""
        self._around.append(function)

    def start(self) -> None:
        """Look at module calls from now on, outside of whatever else was put around them, if a knob wants to know."""
        if self._meet or self._around:
            for method in (
                ModelCalls._outermost,
                ModelCalls._run,
                ModelCalls._is_elsewhere,
                ModelCalls._count_step,
            ):
                self._skip_in_dynamo(method)
            self._watch.when_imported("torch", self._discover)
            self._steps.after(self._count_step)

    def _discover(self, torch: Any) -> None:
        base = torch.nn.Module
        self._base_call = previous = base.__call__

        @wraps(previous)
        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._passes_by or self._inside or not _has_parameters(module) or self._is_elsewhere():
                return previous(module, *args, **kwargs)
            return self._outermost(module, previous, args, kwargs)

        self._own_call = base.__call__ = __call__
        self._skip_in_dynamo(__call__)

    def _is_elsewhere(self) -> bool:
        """Whether this is not the thread that called the first model."""
        if self._thread is None:
            self._thread = get_ident()
        return self._thread != get_ident()

    def _outermost(self, module: Any, previous: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._inside = True
        try:
            if module not in self._met:
                self._met.add(module)
                self._classes.add(type(module))
                for meet in self._meet:
                    meet(module)
            return self._run(module, previous, args, kwargs)
        finally:
            self._inside = False

    def _run(self, module: Any, previous: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return previous(module, *args, **kwargs)

        for around in reversed(self._around):
            call = _inside_of(around, module, call)
        return call(*args, **kwargs)

    def _count_step(self, optimizer: Any) -> None:
        self._steps_left -= 1
        if self._steps_left == 0:
            self._steps.forget(self._count_step)
            self._settle()

    def _settle(self) -> None:
        """Look at the calls of the met classes only.

        A compiled model keeps the call that it found, so that one is told to look at nothing any more.
        """
        self._passes_by = True
        base = sys.modules["torch"].nn.Module
        if base.__call__ is self._own_call:
            base.__call__ = self._base_call
        if self._around:
            for kind in self._classes:
                self._wrap_class(kind)

    def _wrap_class(self, kind: Any) -> None:
        previous = kind.__call__

        @wraps(previous)
        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside or self._thread != get_ident() or not _has_parameters(module):
                return previous(module, *args, **kwargs)
            return self._outermost(module, previous, args, kwargs)

        kind.__call__ = __call__
        self._skip_in_dynamo(__call__)


def _inside_of(around: Around, module: Any, call: Call) -> Call:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return around(module, call, args, kwargs)

    return wrapped


def _has_parameters(module: Any) -> bool:
    return next(module.parameters(), None) is not None
