"""``DataLoader(in_order=False)``: batches come as they are ready, so that a slow one holds nobody up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import set_on_training_loader
from ..intervention.setup import needs_torch, needs_workers
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "loader.in_order"
EQUIVALENCE = "semantic"
SUMMARY = "whether batches keep their order when a slow one comes late"
EXAMPLE = "false"
UNDO = "take in_order=False out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader with workers."""
    return needs_workers(setup) or needs_torch(setup, "2.6")


def install(value: bool, site: Site) -> None:
    """Change every training loader that has workers."""
    set_on_training_loader(site, "in_order", value, needs_workers=True)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"DataLoader(..., in_order={value})"
