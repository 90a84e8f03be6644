"""``DistributedDataParallel(static_graph=…)``: the graph stays the same, so communication is planned once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.parallel import set_on_ddp
from ..intervention.setup import needs_ranks
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "ddp.static_graph"
EQUIVALENCE = "exact"
SUMMARY = "the graph is the same in every step, so its communication is planned once"
EXAMPLE = "true"
UNDO = "take static_graph out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Training in several processes."""
    return needs_ranks(setup)


def install(value: bool, site: Site) -> None:
    """Change every DistributedDataParallel that is made."""
    set_on_ddp(site, "static_graph", value)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"DistributedDataParallel(..., static_graph={value})"
