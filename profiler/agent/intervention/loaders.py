"""Changes the settings of the training loaders, and leaves those of the evaluation alone.

A loader is taken for one of evaluation if it goes through its samples in order while another one, made before it,
shuffles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .setup import needs_loader, needs_workers
from .values import argument

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from .site import Actions, Site

    Arguments = MutableMapping[str, Any]

MODULE = "torch.utils.data.dataloader"
_IN_ORDER = (None, "SequentialSampler")


class _Seen:
    shuffling = False


def on_training_loader(site: Site, change: Callable[[Arguments], None], *, first: bool = False) -> None:
    """Have ``change(arguments)`` look at the arguments of each training loader that is made."""

    def change_training(loader: Any, arguments: Arguments) -> None:
        if _is_for_training(arguments):
            change(arguments)

    site.on_construction(MODULE, ("DataLoader",), change_training, first=first)


def loader_argument(name: str, *, of_workers: bool = True) -> Actions:
    """A knob that sets one argument of each training loader, or ``of_workers`` of those that have any."""

    def install(value: Any, site: Site) -> None:
        def change(arguments: Arguments) -> None:
            if of_workers and not arguments.get("num_workers"):
                site.not_applied("the loader has no worker processes (num_workers is 0)")
            else:
                set_argument(site, "DataLoader", arguments, name, value)

        on_training_loader(site, change)

    applies = needs_workers if of_workers else needs_loader
    return applies, install, lambda value: f"DataLoader(..., {argument(name, value)})"


def set_argument(site: Site, owner: str, arguments: Arguments, name: str, value: Any) -> None:
    """Set an argument that the class has, and tell."""
    if name not in arguments:
        site.not_applied(f"{owner} of this torch has no {name}")
    elif arguments[name] == value:
        site.not_applied(f"{name} is {value!r} already")
    else:
        site.applied(f"{owner}: {name} {arguments[name]!r} → {value!r}")
        arguments[name] = value


def _is_for_training(arguments: Arguments) -> bool:
    sampler = arguments.get("sampler")
    named = None if sampler is None else type(sampler).__name__
    shuffles = (
        bool(arguments.get("shuffle")) or named not in _IN_ORDER or arguments.get("batch_sampler") is not None
    )
    _Seen.shuffling = _Seen.shuffling or shuffles
    return shuffles or not _Seen.shuffling
