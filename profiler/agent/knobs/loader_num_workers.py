"""``DataLoader(num_workers=…)``: how many processes make batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.loaders import on_training_loader, set_argument
from ..intervention.setup import needs_loader
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from ..intervention.site import Site

NAME = "loader.num_workers"
EQUIVALENCE = "exact"
SUMMARY = "worker processes of the training loaders"
EXAMPLE = "2"
UNDO = "write the old num_workers back"
MOVES_RANDOMNESS = True
#: What a loader without workers may not be told.
_WORKERS_ONLY = {
    "prefetch_factor": None,
    "persistent_workers": False,
    "multiprocessing_context": None,
    "timeout": 0,
}


def parse(text: str) -> int:
    """A number of processes; 0 loads in the training process."""
    return whole_number(text, most=1024)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader over a map-style data set."""
    if setup.get("loader.kind") == "iterable":
        return "the data set is iterable: each worker would yield all of its samples unless it shards them itself"
    return needs_loader(setup)


def install(value: int, site: Site) -> None:
    """Change every training loader that is made, before other knobs look at it."""

    def change(arguments: MutableMapping[str, Any]) -> None:
        if _is_iterable(arguments.get("dataset")):
            site.not_applied("the data set is iterable")
            return
        set_argument(site, "DataLoader", arguments, "num_workers", value)
        if value == 0:
            arguments.update({name: off for name, off in _WORKERS_ONLY.items() if name in arguments})

    on_training_loader(site, change, first=True)


def _is_iterable(dataset: Any) -> bool:
    return not hasattr(type(dataset), "__getitem__")


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"DataLoader(..., num_workers={value})"
