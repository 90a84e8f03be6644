"""``DataLoader(batch_size=…)``: compared per sample, because a step does other work then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import on_training_loader, set_argument
from ..intervention.setup import needs_loader
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from ..intervention.site import Site

NAME = "batch.size"
EQUIVALENCE = "semantic"
SUMMARY = "samples of a batch (compared per sample)"
EXAMPLE = "64"
UNDO = "write the old batch_size back"


def parse(text: str) -> int:
    """A number of samples."""
    return whole_number(text, least=1, most=10_000_000)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run with a loader."""
    return needs_loader(setup)


def install(value: int, site: Site) -> None:
    """Change every training loader that makes its own batches."""

    def change(arguments: MutableMapping[str, Any]) -> None:
        if arguments.get("batch_sampler") is not None or arguments.get("batch_size") is None:
            site.not_applied("the loader gets its batches from a batch_sampler, or makes none")
            return
        set_argument(site, "DataLoader", arguments, "batch_size", value)

    on_training_loader(site, change)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"DataLoader(..., batch_size={value})"
