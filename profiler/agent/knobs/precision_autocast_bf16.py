"""``torch.autocast(dtype=torch.bfloat16)`` around the model: products in bfloat16, parameters stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.autocast import around_models
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "precision.autocast_bf16"
EQUIVALENCE = "numerical"
SUMMARY = "the model's products in bfloat16"
EXAMPLE = "true"
UNDO = "take the autocast context out again"
TOLERANCE = 3e-2


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run in fp32, on a CPU or a GPU that knows bfloat16."""
    if setup.get("precision") in ("bf16", "fp16", "fp8"):
        return f"the run computes in {setup['precision']} already"
    capability = setup.get("device.capability")
    if capability is not None and float(str(capability)) < 8.0:
        return f"the GPU computes bfloat16 slowly (capability {capability}, 8.0 is needed)"
    return None


def install(value: bool, site: Site) -> None:
    """Run the models' calls under autocast."""
    around_models(site, "bfloat16")


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "with torch.autocast(device.type, dtype=torch.bfloat16):  # around forward and loss"
