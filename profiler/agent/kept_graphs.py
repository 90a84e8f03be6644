"""Sees whether graphs of losses live on after their backward: each that does keeps memory, and more with every step.

A graph's nodes are no Python objects that could be watched, but a hook that is put on a node lives as long as the node.
The hook does nothing; it is put on after backward has run, on a loss now and then. How often is up to the background
thread, by the clock: in a training of many short steps, each backward that is watched would be felt.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

#: Steps from one backward that is watched to the next, at least: a graph may well live until the next step.
STEPS_BETWEEN = 4
#: The last few are kept in sight.
MAX_WATCHED = 8
#: How far below what backward starts from: scaling, and dividing by the number of micro-batches, take a node each.
NODES_BELOW = 3


class _Mark:
    """The hook: its death tells of the node's."""

    __slots__ = ("__weakref__",)

    def __call__(self, *_: Any) -> None:
        return None


def _below(node: Any) -> Any:
    """A node some way below a loss's own, which a loss shares with what is made of it to scale it; never a leaf's."""
    for _ in range(NODES_BELOW):
        inner = next((one for one, _ in node.next_functions if one is not None and one.next_functions), None)
        if inner is None:
            return node
        node = inner
    return node


class KeptGraphs:
    """The graphs of the last few losses that were watched.

    Attributes:
        is_due: the next backward is to be shown to `ran`.
    """

    def __init__(self) -> None:
        self.is_due = False
        self._watched_at = 0
        self._marks: deque[weakref.ref[_Mark]] = deque(maxlen=MAX_WATCHED)

    def watch(self, steps: int) -> None:
        """Ask for the next backward, after so many steps, unless one was asked for only just before."""
        if steps - self._watched_at >= STEPS_BETWEEN:
            self._watched_at = steps
            self.is_due = True

    def ran(self, tensors: Any) -> None:
        """A backward from these tensors has run."""
        self.is_due = False
        root: Any = next(iter(tensors), None) if isinstance(tensors, (list, tuple)) else tensors
        node = getattr(root, "grad_fn", None)
        if hasattr(node, "register_hook") and hasattr(node, "next_functions"):
            mark = _Mark()
            _below(node).register_hook(mark)
            self._marks.append(weakref.ref(mark))

    def counted(self) -> dict[str, int]:
        """How many graphs were watched, without the latest, and how many are kept; empty before there are any."""
        older = list(self._marks)[:-1]
        if not older:
            return {}
        return {"graphs_watched": len(older), "graphs_kept": sum(mark() is not None for mark in older)}
