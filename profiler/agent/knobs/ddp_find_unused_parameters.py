"""``DistributedDataParallel(find_unused_parameters=…)``: whether each step looks for parameters without gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.parallel import set_on_ddp
from ..intervention.setup import needs_ranks
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "ddp.find_unused_parameters"
EQUIVALENCE = "exact"
SUMMARY = "whether each step looks for parameters without gradient"
EXAMPLE = "false"
UNDO = "take find_unused_parameters out again"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Training in several processes."""
    return needs_ranks(setup)


def install(value: bool, site: Site) -> None:
    """Change every DistributedDataParallel that is made."""
    set_on_ddp(site, "find_unused_parameters", value)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"DistributedDataParallel(..., find_unused_parameters={value})"
