"""Sets flags of torch's own optimizers where they are made."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .setup import anywhere
from .values import argument

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from .site import Actions, Site

MODULE = "torch.optim"
#: torch's optimizers that have the flags in some version.
NAMES = (
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ASGD",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
)


def optimizer_flag(flag: str, *, excludes: str) -> Actions:
    """A knob that sets ``flag`` where the optimizer has it; ``excludes`` is the flag that may not be on with it."""

    def install(value: bool, site: Site) -> None:
        def change(optimizer: Any, arguments: MutableMapping[str, Any]) -> None:
            name = type(optimizer).__name__
            if flag not in arguments:
                if not _gets_it_from_base(optimizer, flag):
                    site.not_applied(f"{name} has no flag {flag}")
            elif value and arguments.get("differentiable"):
                site.not_applied(f"{name} is differentiable, which {flag} does not support")
            elif arguments[flag] is not value:
                site.applied(f"{name}: {flag} {arguments[flag]!r} → {value!r}")
                arguments[flag] = value
                if value and arguments.get(excludes):
                    arguments[excludes] = False

        site.on_construction(MODULE, NAMES, change)

    return anywhere, install, lambda value: f"torch.optim.AdamW(..., {argument(flag, value)})"


def _gets_it_from_base(optimizer: Any, flag: str) -> bool:
    return any(flag in inspect.signature(kind.__init__).parameters for kind in type(optimizer).__mro__[1:-1])
