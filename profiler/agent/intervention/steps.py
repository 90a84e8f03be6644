"""Tells the knobs when an optimizer has stepped, through torch's own hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..imports import ImportWatch


class StepWatch:
    """Listens once somebody wants to know."""

    def __init__(self, watch: ImportWatch) -> None:
        self._watch = watch
        self._after: list[Callable[[Any], None]] = []

    def after(self, function: Callable[[Any], None]) -> None:
        """Call ``function(optimizer)`` after each step."""
        if not self._after:
            self._watch.when_imported("torch.optim.optimizer", self._listen)
        self._after.append(function)

    def forget(self, function: Callable[[Any], None]) -> None:
        """Call it no more."""
        self._after = [kept for kept in self._after if kept != function]

    def _listen(self, module: Any) -> None:
        module.register_optimizer_step_post_hook(self._tell)

    def _tell(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for function in list(self._after):
            function(optimizer)
