"""TF32: matrix products of fp32 numbers with 10 bits of mantissa, on the tensor cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.setup import needs_cuda
from ..intervention.site import loaded
from ..intervention.values import only_true
from ..matmul_precision import convolutions_are_rounded, matmul_precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "precision.tf32"
EQUIVALENCE = "numerical"
SUMMARY = "matrix products of fp32 numbers on the tensor cores"
EXAMPLE = "true"
UNDO = "torch.set_float32_matmul_precision('highest')"
TOLERANCE = 1e-2


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run in fp32 on a GPU with TF32."""
    capability = setup.get("device.capability")
    if capability is not None and float(str(capability)) < 8.0:
        return f"the GPU has no TF32 (capability {capability}, 8.0 is needed)"
    if setup.get("precision") not in (None, "fp32"):
        return f"the run computes in {setup['precision']} already"
    return needs_cuda(setup)


def install(value: bool, site: Site) -> None:
    """Set it before the first call of a model, after whatever the script has set."""

    def allow(module: Any) -> None:
        torch = loaded("torch")
        if not torch.cuda.is_available():
            site.not_applied("there is no CUDA device")
            return
        if matmul_precision(torch) != "highest" and convolutions_are_rounded(torch):
            site.not_applied("TF32 is allowed already")
            return
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        site.applied("float32 matmul precision: high")

    site.on_model(allow)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "torch.set_float32_matmul_precision('high')"
