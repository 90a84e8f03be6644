"""Tells the knobs when an optimizer is about to step, and when it has stepped, through torch's own hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..imports import ImportWatch


class StepWatch:
    """Listens once somebody wants to know."""

    def __init__(self, watch: ImportWatch) -> None:
        self._watch = watch
        self._before: list[Callable[[Any], None]] = []
        self._after: list[Callable[[Any], None]] = []
        self._listens = False

    def before(self, function: Callable[[Any], None]) -> None:
        """Call ``function(optimizer)`` before each step."""
        self._listen_once()
        self._before.append(function)

    def after(self, function: Callable[[Any], None]) -> None:
        """Call ``function(optimizer)`` after each step."""
        self._listen_once()
        self._after.append(function)

    def forget(self, function: Callable[[Any], None]) -> None:
        """Call it no more."""
        self._after = [kept for kept in self._after if kept != function]

    def _listen_once(self) -> None:
        if not self._listens:
            self._listens = True
            self._watch.when_imported("torch.optim.optimizer", self._listen)

    def _listen(self, module: Any) -> None:
        module.register_optimizer_step_pre_hook(self._tell_before)
        module.register_optimizer_step_post_hook(self._tell_after)

    def _tell_before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for function in list(self._before):
            function(optimizer)

    def _tell_after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for function in list(self._after):
            function(optimizer)
