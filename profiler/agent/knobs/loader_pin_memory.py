"""``DataLoader(pin_memory=…)``: batches lie in page-locked memory, which copies to a GPU faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import loader_argument
from ..intervention.setup import needs_cuda, needs_loader
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "loader.pin_memory"
EQUIVALENCE = "exact"
SUMMARY = "batches in page-locked memory"
EXAMPLE = "true"
UNDO = "take pin_memory=True out again"

parse = flag
_, install, snippet = loader_argument("pin_memory", of_workers=False)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader that feeds a GPU."""
    return needs_cuda(setup) or needs_loader(setup)
