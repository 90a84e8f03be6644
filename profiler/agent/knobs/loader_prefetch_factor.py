"""``DataLoader(prefetch_factor=…)``: how many batches each worker makes ahead."""

from __future__ import annotations

from ..intervention.loaders import loader_argument
from ..intervention.values import whole_number

NAME = "loader.prefetch_factor"
EQUIVALENCE = "exact"
SUMMARY = "batches that each loader worker makes ahead"
EXAMPLE = "4"
UNDO = "write the old prefetch_factor back"


def parse(text: str) -> int:
    """A number of batches per worker."""
    return whole_number(text, least=1, most=1024)


applies, install, snippet = loader_argument("prefetch_factor")
