"""Counts the operations that a backward runs, in the first few backwards only: many small ones cost by their number.

A piece of a compiled model is one operation, whatever it computes, and is counted apart too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder

WATCHED_BACKWARDS = 6
MAX_OPERATIONS = 50_000
#: The node that the backward of a compiled graph is.
COMPILED_NODE = "CompiledFunctionBackward"


class GraphSize:
    """Walks the graph of a loss before it is run.

    Attributes:
        is_watching: losses still need to be shown to `saw`.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._backwards = 0
        self.is_watching = True

    def saw(self, tensors: Any) -> None:
        """A backward from these tensors is about to run."""
        self._backwards += 1
        self.is_watching = self._backwards < WATCHED_BACKWARDS
        roots = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        operations, pieces = count_operations(getattr(root, "grad_fn", None) for root in roots)
        if self._recorder.folder is not None:
            self._recorder.folder.fact("graph", operations=operations, compiled_pieces=pieces)


def count_operations(roots: Any) -> tuple[int, int]:
    """The number of nodes that lead from these nodes to leaves, the leaves' own left out; and of compiled ones."""
    waiting = [root for root in roots if root is not None]
    seen = set(waiting)
    operations = pieces = 0
    while waiting and operations < MAX_OPERATIONS:
        node = waiting.pop()
        below = [next_node for next_node, _ in node.next_functions if next_node is not None]
        operations += bool(node.next_functions)
        pieces += type(node).__name__ == COMPILED_NODE
        fresh = {next_node for next_node in below if next_node not in seen}
        seen |= fresh
        waiting.extend(fresh)
    return operations, pieces
