"""``torch.save`` in a thread of its own, from a copy of the tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.saving import Saver
from ..intervention.setup import anywhere
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "checkpoint.asynchronous"
EQUIVALENCE = "exact"
SUMMARY = "checkpoints are written beside the training; tensors are saved from the CPU"
EXAMPLE = "true"
UNDO = "call torch.save itself again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run that saves."""
    return anywhere(setup)


def install(value: bool, site: Site) -> None:
    """Copy what is saved to a file by its name, and write it in a thread; ``torch.load`` waits for it."""
    saver = Saver(site)
    site.when_imported("torch.serialization", saver.take_over)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "threading.Thread(target=torch.save, args=(copy_of(state), path)).start()"
