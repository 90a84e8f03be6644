"""Questions about columns of numbers for which numpy's own answers are slow.

`numpy.unique` hashes before it sorts; it, `numpy.isin`, `numpy.median` and `numpy.quantile` load the masked arrays
first, which costs as much as reading a small trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

IntegerT = TypeVar("IntegerT", np.uint8, np.int32, np.int64)


def distinct(values: npt.NDArray[IntegerT]) -> npt.NDArray[IntegerT]:
    """The different values, sorted. Shape (n,), n at most the number of values."""
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def among(values: npt.NDArray[IntegerT], wanted: npt.NDArray[IntegerT]) -> npt.NDArray[np.bool_]:
    """For each value whether it is one of those wanted. Shape as ``values``."""
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    ordered = np.sort(wanted)
    place = np.searchsorted(ordered, values)
    return ordered[np.minimum(place, len(ordered) - 1)] == values


def rows_of(kind: npt.NDArray[np.uint8], wanted: Iterable[int]) -> npt.NDArray[np.intp]:
    """Row numbers of the rows of the wanted kinds, in order."""
    is_wanted = np.zeros(256, dtype=np.bool_)
    is_wanted[list(wanted)] = True
    return np.flatnonzero(is_wanted[kind])


def median(values: npt.NDArray[Any]) -> float:
    """The middle value, or the mean of the two in the middle; ``values`` is not empty."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def quantile(values: npt.NDArray[Any], share: float) -> float:
    """What a share of the values lies below, linear between two of them; ``values`` is not empty."""
    ordered = np.sort(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    before, behind = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
    way, length = place - low, behind - before
    return before + length * way if way < 0.5 else behind - length * (1 - way)
