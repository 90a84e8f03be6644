"""Makes ``torch.cuda.empty_cache()`` do nothing: called in the loop it stalls the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.setup import needs_cuda
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "allocator.no_empty_cache"
EQUIVALENCE = "exact"
SUMMARY = "torch.cuda.empty_cache does nothing"
EXAMPLE = "true"
UNDO = "call torch.cuda.empty_cache again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run on a GPU."""
    return needs_cuda(setup)


def install(value: bool, site: Site) -> None:
    """Put a function in its place that only tells."""

    def change(cuda: Any) -> None:
        def empty_cache() -> None:
            site.applied("torch.cuda.empty_cache does nothing")

        cuda.empty_cache = empty_cache

    site.when_imported("torch.cuda", change)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "delete torch.cuda.empty_cache() from the loop"
