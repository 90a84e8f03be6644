"""``DataLoader(persistent_workers=…)``: workers live on from epoch to epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import set_on_training_loader
from ..intervention.setup import needs_workers
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "loader.persistent_workers"
EQUIVALENCE = "exact"
SUMMARY = "loader workers that live on from epoch to epoch"
EXAMPLE = "true"
UNDO = "take persistent_workers=True out again"
#: New workers are seeded anew in each epoch, those that live on are not.
MOVES_RANDOMNESS = True


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader with workers."""
    return needs_workers(setup)


def install(value: bool, site: Site) -> None:
    """Change every training loader that has workers."""
    set_on_training_loader(site, "persistent_workers", value, needs_workers=True)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"DataLoader(..., persistent_workers={value})"
