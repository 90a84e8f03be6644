"""Scaled dot product attention by the flash kernel only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.attention import use_backend
from ..intervention.setup import needs_part
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "sdpa.flash"
EQUIVALENCE = "numerical"
SUMMARY = "attention by the flash kernel"
EXAMPLE = "true"
UNDO = "take sdpa_kernel out again"
TOLERANCE = 1e-2


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A model with attention."""
    return needs_part(setup, "attention")


def install(value: bool, site: Site) -> None:
    """Leave only this kernel on."""
    use_backend(site, "flash")


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "with torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION):"
