"""``model.compile(mode="max-autotune")``: the model is compiled with kernels chosen by timing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.compiling import compile_models
from ..intervention.setup import needs_cuda
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "compile.max_autotune"
EQUIVALENCE = "numerical"
SUMMARY = "the model is compiled with kernels chosen by timing them"
EXAMPLE = "true"
UNDO = "take model.compile out again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run on a GPU."""
    return needs_cuda(setup)


def install(value: bool, site: Site) -> None:
    """Compile every model at its first call."""
    compile_models(site, mode="max-autotune")


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return 'model.compile(mode="max-autotune")'
