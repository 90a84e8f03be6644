"""``DataLoader(multiprocessing_context=…)``: how worker processes are started."""

from __future__ import annotations

from ..intervention.loaders import loader_argument
from ..intervention.values import one_of

NAME = "loader.multiprocessing_context"
EQUIVALENCE = "exact"
SUMMARY = "how loader workers are started"
EXAMPLE = "forkserver"
UNDO = "take multiprocessing_context out again"


def parse(text: str) -> str:
    """A start method."""
    return one_of(text, ("fork", "forkserver", "spawn"))


applies, install, snippet = loader_argument("multiprocessing_context")
