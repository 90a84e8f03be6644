"""``PYTORCH_ALLOC_CONF=expandable_segments:True``: less fragmentation of GPU memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..intervention.setup import needs_cuda
from ..intervention.site import loaded
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "allocator.expandable_segments"
EQUIVALENCE = "exact"
SUMMARY = "GPU memory in segments that can grow"
EXAMPLE = "true"
UNDO = "take PYTORCH_ALLOC_CONF out of the environment again"
_VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
_SETTING = "expandable_segments:True"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run on a GPU."""
    return needs_cuda(setup)


def install(value: bool, site: Site) -> None:
    """Set the environment before torch reads it."""
    for name in _VARIABLES:
        before = os.environ.get(name)
        os.environ[name] = _SETTING if not before else f"{before},{_SETTING}"

    def check(module: Any) -> None:
        if loaded("torch").cuda.is_available():
            site.applied(_SETTING)
        else:
            site.not_applied("there is no CUDA device")

    site.on_model(check)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "PYTORCH_ALLOC_CONF=expandable_segments:True  # in the environment"
