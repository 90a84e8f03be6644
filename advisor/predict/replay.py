"""Replays a graph: every instant as early as what it waits for allows.

The longest path from the window's start to each node, one pass in topological order. Changes nothing and
knows no causes.
"""

from __future__ import annotations

import numpy as np

from .graph import F64, I64, Graph


def replay(graph: Graph, weights: F64) -> F64:
    """Earliest times of all nodes in nanoseconds since the window's start.

    ``weights`` (edges,) are the edges' weights; minus infinity takes an edge out. A node without any edge
    lies at the window's start. Returns shape (nodes,).
    """
    times = [0.0] * len(graph.time_ns)
    for (source, target), weight in zip(graph.links, weights.tolist(), strict=True):
        reached = times[source] + weight
        if reached > times[target]:  # noqa: PLR1730  # a call of `max` per edge takes twice as long
            times[target] = reached
    return np.array(times, dtype=np.float64)


def critical_edges(graph: Graph, weights: F64, times: F64) -> I64:
    """Edges of one longest path from the window's start to its completion, the last first."""
    place = np.empty(len(graph.order), dtype=np.int64)
    place[graph.order] = np.arange(len(graph.order))
    first, before = graph.first.tolist(), graph.source.tolist()
    reached = (times[graph.source] + weights).tolist()
    path: list[int] = []
    node = graph.completion
    while times[node] > 0:
        begin, end = first[place[node]], first[place[node] + 1]
        if begin == end:
            break
        edge = begin if end == begin + 1 else max(range(begin, end), key=reached.__getitem__)
        path.append(edge)
        node = before[edge]
    return np.array(path, dtype=np.int64)
