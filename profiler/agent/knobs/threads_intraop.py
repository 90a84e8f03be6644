"""``torch.set_num_threads``: how many threads compute one operation on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.site import loaded
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "threads.intraop"
EQUIVALENCE = "numerical"
SUMMARY = "threads that compute one operation on the CPU"
EXAMPLE = "2"
UNDO = "write the old torch.set_num_threads back"


def parse(text: str) -> int:
    """A number of threads."""
    return whole_number(text, least=1, most=1024)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run; on a GPU it moves little."""
    return anywhere(setup)


def install(value: int, site: Site) -> None:
    """Set it before the first call of a model, after whatever the script has set."""

    def set_threads(module: Any) -> None:
        torch = loaded("torch")
        before = torch.get_num_threads()
        if before == value:
            site.not_applied(f"torch computes with {value} threads already")
            return
        torch.set_num_threads(value)
        site.applied(f"torch.set_num_threads: {before} → {value}")

    site.on_model(set_threads)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"torch.set_num_threads({value})"
