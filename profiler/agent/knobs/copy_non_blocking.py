"""``tensor.to(device, non_blocking=True)``: the training thread does not wait for copies to the GPU."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.setup import needs_cuda
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "copy.non_blocking"
EQUIVALENCE = "exact"
SUMMARY = "copies of page-locked tensors to the GPU that nobody waits for"
EXAMPLE = "true"
UNDO = "take non_blocking=True out again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run that copies to a GPU."""
    return needs_cuda(setup)


def install(value: bool, site: Site) -> None:
    """Change the copies of page-locked CPU tensors; copies from the GPU stay as they are, for they would be unsafe."""

    def change(torch: Any) -> None:
        for name in ("to", "cuda"):
            setattr(torch.Tensor, name, _without_waiting(getattr(torch.Tensor, name), site))

    site.when_imported("torch", change)


def _without_waiting(original: Any, site: Site) -> Any:
    @wraps(original)
    def copy(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_said = "non_blocking" in kwargs or any(isinstance(value, bool) for value in args)
        if not is_said and self.device.type == "cpu" and self.is_pinned():
            site.applied("copies of page-locked tensors do not block")
            kwargs["non_blocking"] = True
        return original(self, *args, **kwargs)

    return copy


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "batch.to(device, non_blocking=True)"
