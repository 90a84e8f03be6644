"""``fused=…`` of torch's optimizers: the whole update of an optimizer in one kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.optimizers import set_flag
from ..intervention.setup import anywhere
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "optimizer.fused"
EQUIVALENCE = "numerical"
SUMMARY = "the whole update of an optimizer in one kernel"
EXAMPLE = "true"
UNDO = "take fused=True out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Wherever an optimizer of torch has it."""
    return anywhere(setup)


def install(value: bool, site: Site) -> None:
    """Change every optimizer that is made."""
    set_flag(site, "fused", value, excludes="foreach")


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"torch.optim.AdamW(..., fused={value})"
