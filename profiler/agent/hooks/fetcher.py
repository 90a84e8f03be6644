"""The fetchers of ``DataLoader``: what making one batch costs, in a worker or in the training process itself."""

from __future__ import annotations

from functools import wraps
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

from ..recorder import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..recorder import Recorder

MODULE = "torch.utils.data._utils.fetch"


def install(module: Any, recorder: Recorder) -> None:
    """Time each fetch, and apart from the samples the collate function."""
    for fetcher in (module._MapDatasetFetcher, module._IterableDatasetFetcher):
        fetcher.fetch = _timed(fetcher.fetch, recorder)


def _timed(original: Callable[[Any, Any], Any], recorder: Recorder) -> Callable[[Any, Any], Any]:
    @wraps(original)
    def fetch(self: Any, index: Any) -> Any:
        probe = self.__dict__.get("_trainrx_probe") or recorder.loading.probe(self)
        if probe is None or not probe.is_on:
            return original(self, index)
        probe.collate_start_ns = 0
        start, cpu = now(), thread_time_ns()
        data = original(self, index)
        probe.batch_done(index, start, cpu, now(), thread_time_ns())
        return data

    return fetch
