"""Sets arguments of ``DistributedDataParallel`` where it is made, and registers communication hooks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .loaders import set_argument

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from .site import Site

MODULE = "torch.nn.parallel.distributed"
NAME = "DistributedDataParallel"


def set_on_ddp(site: Site, name: str, value: Any) -> None:
    """Set one argument of each ``DistributedDataParallel``."""

    def change(ddp: Any, arguments: MutableMapping[str, Any]) -> None:
        set_argument(site, NAME, arguments, name, value)

    site.on_construction(MODULE, (NAME,), change)


def register_hook(site: Site, name: str) -> None:
    """Register one of torch's own communication hooks on each ``DistributedDataParallel``."""

    def register(ddp: Any) -> None:
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        ddp.register_comm_hook(None, getattr(default_hooks, name))
        site.applied(f"{NAME}: {name}")

    site.on_constructed(MODULE, NAME, register)
