"""Python's garbage collector: looks less often at what lives for the whole training."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "gc.control"
EQUIVALENCE = "exact"
SUMMARY = "Python's garbage collector keeps out of the loop"
EXAMPLE = "freeze"
UNDO = "take gc.freeze() and gc.disable() out again"
#: Steps after which what lives is taken to live for the whole training.
FREEZE_AFTER = 3
#: With ``manual``, steps from one collection to the next.
COLLECT_EVERY = 100


def parse(text: str) -> str:
    """``freeze``: what lives after the first steps is never looked at again. ``manual``: and collections are ours."""
    return one_of(text, ("freeze", "manual"))


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run."""
    return anywhere(setup)


def install(value: str, site: Site) -> None:
    """Freeze after the first steps; with ``manual``, collect between steps only."""
    steps = [0]

    def after_step(optimizer: Any) -> None:
        steps[0] += 1
        if steps[0] == FREEZE_AFTER:
            gc.collect()
            gc.freeze()
            if value == "manual":
                gc.disable()
            site.applied(f"{gc.get_freeze_count()} objects are frozen")
        elif value == "manual" and steps[0] % COLLECT_EVERY == 0:
            gc.collect(1)

    site.after_step(after_step)


def snippet(value: str) -> str:
    """How to write it in the script."""
    return "gc.collect(); gc.freeze()" + ("; gc.disable()" if value == "manual" else "")
