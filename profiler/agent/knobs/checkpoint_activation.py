"""Activation checkpointing of repeated blocks: their activations are computed again, not kept."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.models import repeated_blocks, unwrapped
from ..intervention.setup import anywhere
from ..intervention.site import loaded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "checkpoint.activation"
EQUIVALENCE = "exact"
SUMMARY = "activations of repeated blocks are computed again, not kept"
EXAMPLE = "auto"
UNDO = "take torch.utils.checkpoint out again"


def parse(text: str) -> str:
    """The name of the blocks' class, or ``auto`` for the blocks that repeat.

    Raises:
        ValueError: it is no name of a class.
    """
    name = text.strip()
    if not name.isidentifier() or name.lower() in ("true", "false", "yes", "no", "on", "off"):
        raise ValueError(f"{text!r} is neither auto nor the name of a class")
    return name


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run; it saves memory and costs time."""
    return anywhere(setup)


def install(value: str, site: Site) -> None:
    """Change the classes of the blocks at the first call of a model."""
    changed: set[type] = set()

    def change(module: Any) -> None:
        inner = unwrapped(module)
        blocks = repeated_blocks(inner) if value == "auto" else _named(inner, value)
        if not blocks:
            site.not_applied(f"{type(inner).__name__} has no such blocks")
            return
        for kind in {type(block) for block in blocks} - changed:
            changed.add(kind)
            _checkpoint(kind)
        site.applied(f"{len(blocks)} blocks of {type(blocks[0]).__name__} are checkpointed")

    site.on_model(change)


def _named(module: Any, name: str) -> list[Any]:
    return [part for part in module.modules() if type(part).__name__ == name]


def _checkpoint(kind: Any) -> None:
    from torch.utils.checkpoint import checkpoint

    original = kind.forward
    torch = loaded("torch")

    @wraps(original)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not (self.training and torch.is_grad_enabled()):
            return original(self, *args, **kwargs)
        return checkpoint(original, self, *args, use_reentrant=False, **kwargs)

    kind.forward = forward


def snippet(value: str) -> str:
    """How to write it in the script."""
    return f"torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)  # blocks: {value}"
