"""``foreach=…`` of torch's optimizers: one multi-tensor kernel per operation instead of a loop over parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.optimizers import set_flag
from ..intervention.setup import anywhere
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "optimizer.foreach"
EQUIVALENCE = "numerical"
SUMMARY = "one multi-tensor kernel per operation instead of a loop over parameters"
EXAMPLE = "true"
UNDO = "take foreach=True out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Wherever an optimizer of torch has it."""
    return anywhere(setup)


def install(value: bool, site: Site) -> None:
    """Change every optimizer that is made."""
    set_flag(site, "foreach", value, excludes="fused")


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"torch.optim.AdamW(..., foreach={value})"
