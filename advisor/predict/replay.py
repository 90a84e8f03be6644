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
    source, weight = graph.source.tolist(), weights.tolist()
    first = graph.first.tolist()
    begin = 0
    for place, node in enumerate(graph.order.tolist()):
        end = first[place + 1]
        best = 0.0
        for edge in range(begin, end):
            reached = times[source[edge]] + weight[edge]
            best = max(best, reached)
        times[node] = best
        begin = end
    return np.array(times, dtype=np.float64)


def critical_edges(graph: Graph, weights: F64, times: F64) -> I64:
    """Edges of one longest path from the window's start to its completion, the last first."""
    place = np.empty(len(graph.order), dtype=np.int64)
    place[graph.order] = np.arange(len(graph.order))
    path: list[int] = []
    node = graph.completion
    while times[node] > 0:
        begin, end = graph.first[place[node]], graph.first[place[node] + 1]
        if begin == end:
            break
        reached = times[graph.source[begin:end]] + weights[begin:end]
        edge = int(begin + reached.argmax())
        path.append(edge)
        node = int(graph.source[edge])
    return np.array(path, dtype=np.int64)
