"""``DistributedDataParallel.no_sync()``: gradients are exchanged once per step, not with every micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.accumulation import OneExchangePerStep
from ..intervention.setup import needs_ranks
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "ddp.no_sync"
EQUIVALENCE = "numerical"
SUMMARY = "the micro-batches of a step; only the last one exchanges gradients"
EXAMPLE = "4"
UNDO = "take no_sync() out again"


def parse(text: str) -> int:
    """How many micro-batches make a step."""
    return whole_number(text, least=2, most=65_536)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Training in several processes without a gradient scaler, which has each rank skip steps for itself."""
    if setup.get("precision") == "fp16":
        return "this run trains in fp16, whose gradient scaler may skip a step on one rank alone"
    return needs_ranks(setup)


def install(value: int, site: Site) -> None:
    """Have every DistributedDataParallel exchange with each ``value``-th forward of a step."""
    OneExchangePerStep(site, value).take_over()


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"with nullcontext() if micro % {value} == {value - 1} else model.no_sync():  # around forward and backward"
