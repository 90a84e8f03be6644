"""``DataLoader``: how long the training thread waits for each batch."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import wraps
from multiprocessing import current_process
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .. import storage
from ..format import DATA_WAIT, LOADER_END, LOADER_KEY, LOADER_START, READY_UNIT, WORKER_MARK
from ..recorder import now
from ..tracebacks import unseen

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..recorder import Recorder

MODULE = "torch.utils.data.dataloader"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap the making of an iterator and each fetch from it."""
    spans = recorder.spans
    original_next = module._BaseDataLoaderIter.__next__
    original_iter = module.DataLoader.__iter__

    def told_apart(loader: Any) -> dict[str, Any]:
        return recorder.loading.alike.told_apart(describe(loader), loader.dataset)

    @wraps(original_next)
    def __next__(self: Any) -> Any:
        if recorder.thread != get_ident() and not recorder.admits():
            return original_next(self)
        known = self.__dict__
        source = recorder.fetching = known.get("_trainrx_loader", 0)
        if "_data_queue" in known:
            source += _batches_ready(known["_data_queue"])
        start, code, batch = now(), LOADER_END, None
        try:
            recorder.loading_begins(start)
        except Exception as error:
            recorder.fail(error)
        try:
            batch = original_next(self)
            code = DATA_WAIT
            recorder.fetches += 1
            return batch
        finally:
            end = now()
            spans.append((code, start, end, source))
            if recorder.clock.is_on:
                recorder.clock.moment(DATA_WAIT, end)
            if code == DATA_WAIT and recorder.batch_facts.is_watching:
                recorder.saw_batch(batch, source % READY_UNIT)

    @wraps(original_iter)
    def __iter__(self: Any) -> Any:
        if recorder.thread != get_ident() and not recorder.admits():
            return original_iter(self)
        number = 0
        try:
            number = recorder.number(self, "loader", told_apart)
            recorder.loading_begins(now())
        except Exception as error:
            recorder.fail(error)
        start = now()
        with _workers_write_to(recorder, number):
            iterator = original_iter(self)
        spans.append((LOADER_START, start, now(), number))
        with suppress(Exception):  # a subclass may give a generator, which takes no attribute
            iterator._trainrx_loader = number
            iterator._dataset_fetcher._trainrx_loader = number
        with suppress(Exception):  # only a loader with workers has a thread that pins, and not every one
            iterator._pin_memory_thread._trainrx_loader = number
        return iterator

    unseen(__next__)
    unseen(__iter__)
    module._BaseDataLoaderIter.__next__ = __next__
    module.DataLoader.__iter__ = __iter__


def _batches_ready(queue: Any) -> int:
    """How many batches lie ready from the workers, in the form of a span's argument; 0 where that cannot be known."""
    try:
        return (queue.qsize() + 1) * READY_UNIT
    except (NotImplementedError, OSError):
        return 0


@contextmanager
def _workers_write_to(recorder: Recorder, number: int) -> Generator[None]:
    """Tell the workers that start now where to write, through what each process takes from the one that makes it.

    Not through the environment: that of a forkserver's workers is as old as the forkserver.
    """
    if recorder.folder is None:
        yield
        return
    inherited: dict[str, Any] = getattr(current_process(), "_config", {})
    inherited[LOADER_KEY] = recorder.folder.worker_path(number, WORKER_MARK)
    try:
        yield
    finally:
        inherited.pop(LOADER_KEY, None)


def describe(loader: Any) -> dict[str, Any]:
    """The loader's settings, and what it reads from."""
    dataset = loader.dataset
    return {
        "dataset": type(dataset).__name__,
        "length": _length(dataset),
        "kind": "iterable" if type(loader._dataset_kind) is not int or loader._dataset_kind else "map",
        "batch_size": _batch_size(loader),
        "num_workers": loader.num_workers,
        "prefetch_factor": loader.prefetch_factor,
        "persistent_workers": loader.persistent_workers,
        "pin_memory": loader.pin_memory,
        "drop_last": loader.drop_last,
        "sampler": type(_sampler(loader)).__name__,
        "collate_fn": _name(loader.collate_fn),
        "start_method": getattr(loader.multiprocessing_context, "_name", None),
        "storage": storage.of_dataset(dataset),
    }


def _batch_size(loader: Any) -> int | None:
    """Also of a loader that a ``batch_sampler`` makes the batches of, as Accelerate's."""
    if loader.batch_size is not None:
        return loader.batch_size
    size = getattr(loader.batch_sampler, "batch_size", None)
    return size if isinstance(size, int) else None


def _sampler(loader: Any) -> Any:
    """What decides the order: within the ``batch_sampler``, or a batch sampler that this one wraps, if there is one."""
    batches, sampler = loader.batch_sampler, None
    while batches is not None and sampler is None:
        sampler, batches = getattr(batches, "sampler", None), getattr(batches, "batch_sampler", None)
    return loader.sampler if sampler is None else sampler


def _length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):
        return None


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
