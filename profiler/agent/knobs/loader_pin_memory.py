"""``DataLoader(pin_memory=…)``: batches lie in page-locked memory, which copies to a GPU faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import set_on_training_loader
from ..intervention.setup import needs_cuda, needs_loader
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "loader.pin_memory"
EQUIVALENCE = "exact"
SUMMARY = "batches in page-locked memory"
EXAMPLE = "true"
UNDO = "take pin_memory=True out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader that feeds a GPU."""
    return needs_cuda(setup) or needs_loader(setup)


def install(value: bool, site: Site) -> None:
    """Change every training loader."""
    set_on_training_loader(site, "pin_memory", value)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"DataLoader(..., pin_memory={value})"
