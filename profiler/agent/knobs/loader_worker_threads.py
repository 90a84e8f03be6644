"""Limits the threads that each loader worker computes with, so that workers do not fight for cores."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..intervention.loaders import on_training_loader
from ..intervention.setup import needs_workers
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from ..intervention.site import Site

NAME = "loader.worker_threads"
EQUIVALENCE = "exact"
SUMMARY = "threads of each loader worker (torch and OpenCV)"
EXAMPLE = "1"
UNDO = "take the worker_init_fn out again"


class LimitThreads:
    """A ``worker_init_fn`` that calls the script's own and limits the threads after it; it can be pickled.

    PyTorch starts each worker with one thread, so that it is the script's own that asks for more, or a library.
    """

    def __init__(self, threads: int, then: Any) -> None:
        self.threads = threads
        self.then = then

    def __call__(self, worker: int) -> None:
        """Called by torch in each new worker."""
        if self.then is not None:
            self.then(worker)
        sys.modules["torch"].set_num_threads(self.threads)
        opencv = sys.modules.get("cv2")
        if opencv is not None:
            opencv.setNumThreads(self.threads)


def parse(text: str) -> int:
    """A number of threads."""
    return whole_number(text, least=1, most=1024)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A loader with workers."""
    return needs_workers(setup)


def install(value: int, site: Site) -> None:
    """Give every training loader that has workers a ``worker_init_fn``."""

    def change(arguments: MutableMapping[str, Any]) -> None:
        if not arguments.get("num_workers"):
            site.not_applied("the loader has no worker processes (num_workers is 0)")
            return
        arguments["worker_init_fn"] = LimitThreads(value, arguments.get("worker_init_fn"))
        site.applied(f"DataLoader: {value} threads in each worker")

    on_training_loader(site, change)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"in worker_init_fn: torch.set_num_threads({value}); cv2.setNumThreads({value})"
