"""``block.compile()`` for each repeated block: compiled once, used for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.compiling import compile_in_place
from ..intervention.models import is_compiled, repeated_blocks, unwrapped
from ..intervention.setup import needs_torch
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "compile.regional"
EQUIVALENCE = "numerical"
SUMMARY = "each repeated block is compiled, not the whole model"
EXAMPLE = "true"
UNDO = "take block.compile() out again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Where torch can compile blocks."""
    return needs_torch(setup, "2.5")


def install(value: bool, site: Site) -> None:
    """Compile the blocks of every model at its first call."""

    def compile_blocks(module: Any) -> None:
        inner = unwrapped(module)
        blocks = repeated_blocks(inner)
        if is_compiled(inner) or not blocks:
            site.not_applied(f"{type(inner).__name__} has no repeated blocks, or is compiled already")
            return
        for block in blocks:
            compile_in_place(block)
        site.applied(f"{len(blocks)} blocks of {type(blocks[0]).__name__} are compiled")

    site.on_model(compile_blocks)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "for block in model.blocks: block.compile()"
