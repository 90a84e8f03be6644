"""Saves only every n-th time that the script calls ``torch.save``."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "checkpoint.every"
EQUIVALENCE = "exact"
SUMMARY = "how often a checkpoint is written"
EXAMPLE = "5"
UNDO = "save as often as before"


def parse(text: str) -> int:
    """Every how many-th call saves."""
    return whole_number(text, least=2, most=1_000_000)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run that saves."""
    return anywhere(setup)


def install(value: int, site: Site) -> None:
    """Leave out the calls between."""
    calls = [0]

    def change(module: Any) -> None:
        original = module.save

        @wraps(original)
        def save(*args: Any, **kwargs: Any) -> None:
            calls[0] += 1
            if calls[0] % value == 1:
                original(*args, **kwargs)
            else:
                site.applied(f"torch.save: every {value}th call saves")

        module.save = save

    site.when_imported("torch.serialization", change)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"if step % {value} == 0: torch.save(...)"
