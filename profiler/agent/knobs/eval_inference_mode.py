"""``torch.inference_mode()`` around evaluation: no graph, no version counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.site import loaded
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "eval.inference_mode"
EQUIVALENCE = "exact"
SUMMARY = "evaluation without graph and version counters"
EXAMPLE = "true"
UNDO = "take torch.inference_mode out again"


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run that evaluates."""
    return anywhere(setup)


def install(value: bool, site: Site) -> None:
    """Run the calls of models that are in evaluation mode under it."""

    def around(module: Any, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if module.training or loaded("torch").is_inference_mode_enabled():
            return call(*args, **kwargs)
        site.applied(f"{type(module).__name__} in evaluation mode")
        with loaded("torch").inference_mode():
            return call(*args, **kwargs)

    site.around_model(around)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "with torch.inference_mode():  # around validation"
