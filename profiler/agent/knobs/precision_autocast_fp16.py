"""``torch.autocast(dtype=torch.float16)`` around the model, with a gradient scaler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.autocast import around_models
from ..intervention.scaling import scale_gradients
from ..intervention.setup import needs_cuda
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "precision.autocast_fp16"
EQUIVALENCE = "numerical"
SUMMARY = "the model's products in float16, with scaled gradients"
EXAMPLE = "true"
UNDO = "take the autocast context and the gradient scaler out again"
TOLERANCE = 2e-2


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run in fp32 on a GPU."""
    if setup.get("precision") in ("bf16", "fp16", "fp8"):
        return f"the run computes in {setup['precision']} already"
    return needs_cuda(setup)


def install(value: bool, site: Site) -> None:
    """Run the models' calls under autocast, scale losses, and let a scaler step the optimizers."""
    around_models(site, "float16")
    scale_gradients(site)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return 'with torch.autocast("cuda", dtype=torch.float16): ...  # and torch.amp.GradScaler'
