"""``DistributedDataParallel(broadcast_buffers=…)``: whether buffers are sent around before each forward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.parallel import set_on_ddp
from ..intervention.setup import needs_ranks
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "ddp.broadcast_buffers"
EQUIVALENCE = "semantic"
SUMMARY = "whether buffers are sent around before each forward"
EXAMPLE = "false"
UNDO = "take broadcast_buffers out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Training in several processes."""
    return needs_ranks(setup)


def install(value: bool, site: Site) -> None:
    """Change every DistributedDataParallel that is made."""
    set_on_ddp(site, "broadcast_buffers", value)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"DistributedDataParallel(..., broadcast_buffers={value})"
