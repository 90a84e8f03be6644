"""Gives the first few batches again and again: no fix, but the most that any faster loading could bring."""

from __future__ import annotations

import copy
from collections import UserDict
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.loaders import MODULE
from ..intervention.setup import needs_loader
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "loader.replay_batches"
EQUIVALENCE = "semantic"
SUMMARY = "the first batches are given again and again (the ceiling of any faster loading)"
EXAMPLE = "2"
UNDO = "this is a measurement, not a change to keep"
CEILING = True


def parse(text: str) -> int:
    """How many batches are kept."""
    return whole_number(text, least=1, most=1024)


def applies(setup: Mapping[str, Any]) -> str | None:
    """A run with a loader."""
    return needs_loader(setup)


def install(value: int, site: Site) -> None:
    """Keep the first batches of each data set that is read with gradients on, and give them again."""
    kept: dict[int, list[Any]] = {}

    def replay(module: Any) -> None:
        iterator = module._BaseDataLoaderIter
        original = iterator.__next__

        @wraps(original)
        def __next__(self: Any) -> Any:
            batches = kept.setdefault(id(self._dataset), [])
            given = getattr(self, "_trainrx_given", 0)
            length = _length(self)
            if length is not None and given >= length:
                raise StopIteration
            self._trainrx_given = given + 1
            if len(batches) < value:
                batches.append(original(self))
                return _unshared(batches[-1])
            site.applied(f"batches 1 to {value} are given again and again")
            return _unshared(batches[given % value])

        iterator.__next__ = __next__
        _count_anew(module._MultiProcessingDataLoaderIter)

    site.when_imported(MODULE, replay)


def _count_anew(iterator: Any) -> None:
    """Persistent workers keep their iterator: it begins its next epoch by being reset."""
    original = iterator._reset

    @wraps(original)
    def _reset(self: Any, *args: Any, **kwargs: Any) -> None:
        self._trainrx_given = 0
        original(self, *args, **kwargs)

    iterator._reset = _reset


def _unshared(batch: Any) -> Any:
    """The same tensors in mappings and lists of their own, for the script to take apart."""
    if isinstance(batch, (dict, UserDict)):
        own: Any = copy.copy(batch)
        for key, value in batch.items():
            own[key] = _unshared(value)
        return own
    return type(batch)(map(_unshared, batch)) if type(batch) in (list, tuple) else batch


def _length(iterator: Any) -> int | None:
    try:
        return len(iterator)
    except (TypeError, NotImplementedError):
        return None


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"batches = itertools.cycle(list(itertools.islice(loader, {value})))  # to measure, not to keep"
