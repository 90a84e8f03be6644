"""``DataLoader(in_order=False)``: batches come as they are ready, so that a slow one holds nobody up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import loader_argument
from ..intervention.setup import needs_torch, needs_workers
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "loader.in_order"
EQUIVALENCE = "semantic"
SUMMARY = "whether batches keep their order when a slow one comes late"
EXAMPLE = "false"
UNDO = "take in_order=False out again"

parse = flag
_, install, snippet = loader_argument("in_order")


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader with workers."""
    return needs_workers(setup) or needs_torch(setup, "2.6")
