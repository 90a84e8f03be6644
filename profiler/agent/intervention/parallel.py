"""Sets arguments of ``DistributedDataParallel`` where it is made, and registers communication hooks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .loaders import set_argument
from .setup import needs_ranks
from .values import argument

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from .site import Actions, Site

MODULE = "torch.nn.parallel.distributed"
NAME = "DistributedDataParallel"


def ddp_argument(name: str) -> Actions:
    """A knob that sets one argument of each ``DistributedDataParallel``."""

    def install(value: Any, site: Site) -> None:
        def change(ddp: Any, arguments: MutableMapping[str, Any]) -> None:
            set_argument(site, NAME, arguments, name, value)

        site.on_construction(MODULE, (NAME,), change)

    return needs_ranks, install, lambda value: f"{NAME}(..., {argument(name, value)})"


def ddp_hook(name: str) -> Actions:
    """A knob that registers one of torch's own communication hooks on each ``DistributedDataParallel``."""

    def install(value: bool, site: Site) -> None:
        def register(ddp: Any) -> None:
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            ddp.register_comm_hook(None, getattr(default_hooks, name))
            site.applied(f"{NAME}: {name}")

        site.on_constructed(MODULE, NAME, register)

    return needs_ranks, install, lambda value: f"model.register_comm_hook(None, default_hooks.{name})"
