"""``zero_grad(set_to_none=True)``: gradients are dropped, not overwritten with zeros."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "optimizer.zero_grad_none"
EQUIVALENCE = "exact"
SUMMARY = "gradients are dropped, not overwritten with zeros"
EXAMPLE = "true"
UNDO = "write set_to_none=False again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run."""
    return anywhere(setup)


def install(value: bool, site: Site) -> None:
    """Change the calls that ask for zeros."""

    def change(module: Any) -> None:
        original = module.Optimizer.zero_grad

        @wraps(original)
        def zero_grad(self: Any, set_to_none: bool = True) -> None:
            if not set_to_none:
                site.applied(f"{type(self).__name__}.zero_grad: set_to_none False → True")
            original(self, set_to_none=True)

        module.Optimizer.zero_grad = zero_grad

    site.when_imported("torch.optim.optimizer", change)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "optimizer.zero_grad(set_to_none=True)"
