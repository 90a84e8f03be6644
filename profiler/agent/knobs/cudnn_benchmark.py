"""``torch.backends.cudnn.benchmark``: cuDNN times its convolutions for each shape and takes the fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.setup import needs_cuda, needs_part
from ..intervention.site import loaded
from ..intervention.values import flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "cudnn.benchmark"
EQUIVALENCE = "numerical"
SUMMARY = "cuDNN times its convolutions and takes the fastest"
EXAMPLE = "true"
UNDO = "torch.backends.cudnn.benchmark = False"


def parse(text: str) -> bool:
    """True or false."""
    return flag(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Convolutions on a GPU."""
    return needs_cuda(setup) or needs_part(setup, "conv")


def install(value: bool, site: Site) -> None:
    """Set it before the first call of a model, after whatever the script has set."""

    def switch(module: Any) -> None:
        cudnn = loaded("torch").backends.cudnn
        if not cudnn.is_available():
            site.not_applied("this torch has no cuDNN, or there is no CUDA device")
            return
        if cudnn.benchmark is value:
            site.not_applied(f"cudnn.benchmark is {value} already")
            return
        cudnn.benchmark = value
        site.applied(f"cudnn.benchmark = {value}")

    site.on_model(switch)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return f"torch.backends.cudnn.benchmark = {value}"
