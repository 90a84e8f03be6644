"""Where one host thread waits for another: the training thread for the autograd engine's, and the other way
round.

A trace does not record such waits, but leaves their pattern: a thread does nothing while another one is busy,
and goes on when that one falls silent. Both silences must be long enough that chance does not make them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .graph import I64

SILENCE_NS = 20_000
"""A thread that makes no event for this long may be waiting; operators within a burst follow faster."""


@dataclass(frozen=True)
class Handovers:
    """Thread ``from_thread`` fell silent at ``from_ns``; ``to_thread``, silent since ``since_ns``, went on at
    ``to_ns``.

    Shapes (handovers,), nanoseconds.
    """

    from_thread: I64
    from_ns: I64
    to_thread: I64
    since_ns: I64
    to_ns: I64


def handovers(instants: Mapping[int, I64]) -> Handovers:
    """Find the handovers; ``instants`` are the sorted begins and ends of events of each thread.

    A silence of one thread ends by a handover if another thread fell silent within it, without having taken
    up again before; where several did, the last one handed over.
    """
    rows = [_into(thread, instants) for thread in sorted(instants)]
    table = np.concatenate([*rows, np.zeros((0, 5), dtype=np.int64)])
    return Handovers(*(table[:, column] for column in range(5)))


def _into(thread: int, instants: Mapping[int, I64]) -> I64:
    own = instants[thread]
    silent = np.flatnonzero(np.diff(own) >= SILENCE_NS)
    since, until = own[silent], own[silent + 1]
    giver = np.full(len(silent), -1, dtype=np.int64)
    given = np.full(len(silent), -1, dtype=np.int64)
    for other, times in instants.items():
        if other == thread or not len(times):
            continue
        last = np.searchsorted(times, until, side="left") - 1
        fell = times[np.maximum(last, 0)]
        resumed = np.where(
            last + 1 < len(times), times[np.minimum(last + 1, len(times) - 1)], np.iinfo(np.int64).max
        )
        gives = (last >= 0) & (fell > since) & (resumed - fell >= SILENCE_NS) & (fell > given)
        giver, given = np.where(gives, other, giver), np.where(gives, fell, given)
    found = giver >= 0
    columns = (giver[found], given[found], np.full(int(found.sum()), thread), since[found], until[found])
    return np.stack(columns, axis=1).astype(np.int64)
