"""Measures all ceilings one after another; what fails is left out with its reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from ..errors import UsageError
from .ceilings import Ceilings
from .kept import installed_torch, keep, machine, usable_cores

Part = TypeVar("Part")


def calibrate(runs_dir: Path, *, on_progress: Callable[[str], None] = lambda what: None) -> Ceilings:
    """Measure this machine and keep the result in the user's cache.

    Args:
        runs_dir: whose disk is measured; the nearest folder above it that exists.
        on_progress: told what is measured next.

    Raises:
        UsageError: torch is not installed here.
    """
    version = installed_torch()
    if version is None:
        raise UsageError("torch is not installed beside trainrx, so there is nothing to calibrate with")
    from . import all_reduce, copies, matmul

    began = time.perf_counter()
    attempts = _Attempts(on_progress)
    products = attempts.measure("matmul", lambda: matmul.matmul_rates(usable_cores()))
    rates = [
        *attempts.measure("memory copy", lambda: [copies.memory_copy()]),
        *attempts.measure("host to device", copies.host_to_device, if_none="torch sees no GPU"),
        *attempts.measure("disk", lambda: copies.disk(_existing(runs_dir))),
        *attempts.measure("all-reduce", lambda: [all_reduce.gloo_all_reduce()]),
    ]
    ceilings = Ceilings(
        machine=machine(),
        torch=version,
        taken=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        seconds=time.perf_counter() - began,
        matmul=products,
        rates=rates,
        unavailable=attempts.unavailable,
    )
    keep(ceilings)
    return ceilings


class _Attempts:
    """Measures one thing after another, and remembers why one could not be."""

    def __init__(self, on_progress: Callable[[str], None]) -> None:
        self.unavailable: dict[str, str] = {}
        self._on_progress = on_progress

    def measure(
        self, what: str, action: Callable[[], Iterable[Part]], *, if_none: str | None = None
    ) -> list[Part]:
        """What the action measures; what it measured before a fault counts."""
        self._on_progress(what)
        found: list[Part] = []
        try:
            for part in action():
                found.append(part)  # noqa: PERF402 - what came before a fault is kept
        except (OSError, RuntimeError, AttributeError) as error:
            self.unavailable[what] = next(iter(str(error).splitlines()), type(error).__name__)
        if not found and if_none is not None:
            self.unavailable.setdefault(what, if_none)
        return found


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    found = folder.resolve()
    while not found.is_dir():
        found = found.parent
    return found
