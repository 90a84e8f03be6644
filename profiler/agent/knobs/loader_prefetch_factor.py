"""``DataLoader(prefetch_factor=…)``: how many batches each worker makes ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import set_on_training_loader
from ..intervention.setup import needs_workers
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "loader.prefetch_factor"
EQUIVALENCE = "exact"
SUMMARY = "batches that each loader worker makes ahead"
EXAMPLE = "4"
UNDO = "write the old prefetch_factor back"


def parse(text: str) -> int:
    """A number of batches per worker."""
    return whole_number(text, least=1, most=1024)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader with workers."""
    return needs_workers(setup)


def install(value: int, site: Site) -> None:
    """Change every training loader that has workers."""
    set_on_training_loader(site, "prefetch_factor", value, needs_workers=True)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"DataLoader(..., prefetch_factor={value})"
