"""``torch.set_num_interop_threads``: how many operations run beside each other on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "threads.interop"
EQUIVALENCE = "exact"
SUMMARY = "operations that run beside each other on the CPU"
EXAMPLE = "2"
UNDO = "take torch.set_num_interop_threads out again"


def parse(text: str) -> int:
    """A number of threads."""
    return whole_number(text, least=1, most=1024)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run; it moves only those that use torch.jit.fork or inter-op parallelism."""
    return anywhere(setup)


def install(value: int, site: Site) -> None:
    """Set it as torch is imported, for it can be set once only; the script's own call then does nothing."""

    def set_threads(torch: Any) -> None:
        before = torch.get_num_interop_threads()
        if before == value:
            site.not_applied(f"torch has {value} inter-op threads already")
            return
        torch.set_num_interop_threads(value)
        torch.set_num_interop_threads = _ignored
        site.applied(f"torch.set_num_interop_threads: {before} → {value}")

    site.when_imported("torch", set_threads)


def _ignored(number: int) -> None:
    return None


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"torch.set_num_interop_threads({value})"
