"""Switches off what is meant for debugging: anomaly detection, blocking launches, C++ stacks, checks of collectives."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "debug.off"
EQUIVALENCE = "exact"
SUMMARY = "anomaly detection and other debugging aids are off"
EXAMPLE = "true"
UNDO = "switch the debugging aids on again"
#: Prefix of the variables that tell the processes that this one starts, such as ranks of torchrun, what was taken away.
_TAKEN = "TRAINRX_TAKEN_"
_VARIABLES = ("CUDA_LAUNCH_BLOCKING", "TORCH_SHOW_CPP_STACKTRACES", "TORCH_DISTRIBUTED_DEBUG")


def parse(text: str) -> bool:
    """True."""
    return only_true(text)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run."""
    return anywhere(setup)


def install(value: bool, site: Site) -> None:
    """Take the environment variables away, and let no one switch anomaly detection on."""
    for name in _VARIABLES:
        before = os.environ.pop(name, None) or os.environ.get(_TAKEN + name)
        if before not in (None, "0", "OFF"):
            os.environ[_TAKEN + name] = before
            site.applied(f"{name}={before} is taken away")

    def change(torch: Any) -> None:
        original = torch.set_anomaly_enabled

        @wraps(original)
        def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
            if mode:
                site.applied("anomaly detection stays off")
            original(False, check_nan)

        torch.set_anomaly_enabled = set_anomaly_enabled

    site.when_imported("torch", change)


def snippet(value: bool) -> str:
    """How to write it in the script."""
    return "torch.autograd.set_detect_anomaly(False)"
