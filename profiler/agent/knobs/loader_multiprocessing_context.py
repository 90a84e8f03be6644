"""``DataLoader(multiprocessing_context=…)``: how worker processes are started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import set_on_training_loader
from ..intervention.setup import needs_workers
from ..intervention.values import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "loader.multiprocessing_context"
EQUIVALENCE = "exact"
SUMMARY = "how loader workers are started"
EXAMPLE = "forkserver"
UNDO = "take multiprocessing_context out again"


def parse(text: str) -> str:
    """A start method."""
    return one_of(text, ("fork", "forkserver", "spawn"))


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader with workers."""
    return needs_workers(setup)


def install(value: str, site: Site) -> None:
    """Change every training loader that has workers."""
    set_on_training_loader(site, "multiprocessing_context", value, needs_workers=True)


def snippet(value: str) -> str:
    """How to write it in the script."""
    return f'DataLoader(..., multiprocessing_context="{value}")'
