"""Binds the training process to cores, so that ranks do not push each other around."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "threads.affinity"
EQUIVALENCE = "exact"
SUMMARY = "cores that the training process may run on"
EXAMPLE = "split"
UNDO = "take the binding out again"
#: Tells the processes that this one starts, such as workers of loaders, that its share is theirs and not split again.
_BOUND = "TRAINRX_BOUND"


def parse(text: str) -> str | tuple[int, ...]:
    """Core numbers like ``0-3,6``, or ``split`` for equal shares of the cores for the ranks of a machine."""
    return "split" if text.strip().lower() == "split" else cores(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run on a system that can bind processes."""
    return anywhere(setup)


def install(value: str | tuple[int, ...], site: Site) -> None:
    """Bind this process, and with it all that it starts later."""
    if not hasattr(os, "sched_setaffinity"):
        site.not_applied("this system cannot bind processes to cores")
        return
    if isinstance(value, str) and _BOUND in os.environ:
        return
    chosen = _share() if isinstance(value, str) else value
    if not chosen:
        site.not_applied("this process is no rank of a job on this machine (LOCAL_RANK is not set)")
        return
    os.sched_setaffinity(0, chosen)
    os.environ[_BOUND] = "1"
    site.applied(f"bound to cores {','.join(map(str, chosen))}")


def _share() -> tuple[int, ...]:
    rank, size = os.environ.get("LOCAL_RANK"), os.environ.get("LOCAL_WORLD_SIZE")
    if rank is None or size is None:
        return ()
    free = sorted(os.sched_getaffinity(0))
    each = max(len(free) // int(size), 1)
    first = int(rank) * each % len(free)
    return tuple(free[first : first + each])


def snippet(value: str | tuple[int, ...]) -> str:
    """How to write it in the script."""
    return f"os.sched_setaffinity(0, {value!r})"
