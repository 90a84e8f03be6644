"""Images and convolution weights with the channels last in memory, as the fastest convolutions want them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.models import has_convolutions, is_channels_last, unwrapped
from ..intervention.setup import needs_part
from ..intervention.site import loaded
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "memory_format.channels_last"
EQUIVALENCE = "numerical"
SUMMARY = "images and convolution weights with channels last in memory"
EXAMPLE = "true"
UNDO = "take the two memory_format arguments out again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A model with convolutions."""
    return needs_part(setup, "conv")


def install(value: bool, site: Site) -> None:
    """Change the parameters of each convolutional model once, and its 4-D inputs at each call."""

    def change(module: Any) -> None:
        inner = unwrapped(module)
        if not has_convolutions(inner):
            site.not_applied(f"{type(inner).__name__} has no two-dimensional convolution")
            return
        channels_last = loaded("torch").channels_last
        if is_channels_last(inner, channels_last):
            site.not_applied(f"{type(inner).__name__} is channels_last already")
        else:
            inner.to(memory_format=channels_last)
            site.applied(f"{type(inner).__name__} and its inputs are channels_last")
        inner._trainrx_channels_last = True

    def around(module: Any, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not getattr(unwrapped(module), "_trainrx_channels_last", False):
            return call(*args, **kwargs)
        return call(*map(_reordered, args), **{name: _reordered(value) for name, value in kwargs.items()})

    site.on_model(change)
    site.around_model(around)


def _reordered(value: Any) -> Any:
    torch = loaded("torch")
    if isinstance(value, torch.Tensor) and value.dim() == 4:
        return value.contiguous(memory_format=torch.channels_last)
    return value


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "model.to(memory_format=torch.channels_last); images.to(memory_format=torch.channels_last)"
