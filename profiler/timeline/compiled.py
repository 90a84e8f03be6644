"""What became of a compiled model: into how many pieces it was broken, where, and whether the compiler gave up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..facts import text, whole
from ..recording import RankRecording
from ..report import Where


@dataclass(frozen=True)
class GraphBreak:
    """A place at which TorchDynamo broke a model; ``reason`` is its own sentence."""

    where: Where
    reason: str | None


@dataclass(frozen=True)
class CompiledModel:
    """How a model was compiled.

    Attributes:
        breaks: where it was broken, in the order in which that was found.
        pieces_per_backward: compiled graphs that a backward runs, in the mean; None where none was counted.
        limit: the compiler's limit that was hit, after which functions run as if they were not compiled; None if none.
    """

    breaks: tuple[GraphBreak, ...] = ()
    pieces_per_backward: float | None = None
    limit: str | None = None


def compiled_model(recording: RankRecording) -> CompiledModel:
    """What a rank noted of compiling; empty where nothing was compiled."""
    facts = recording.facts
    counts = [n for fact in facts.get("graph", []) if (n := whole(fact, "compiled_pieces")) is not None]
    limits = [limit for fact in facts.get("recompile_limit", []) if (limit := text(fact, "limit"))]
    return CompiledModel(
        breaks=tuple(_breaks(recording)),
        pieces_per_backward=float(np.mean(counts)) if counts else None,
        limit=limits[0] if limits else None,
    )


def _breaks(recording: RankRecording) -> Iterator[GraphBreak]:
    for fact in recording.facts.get("graph_break", []):
        where = Where(file=text(fact, "file"), line=whole(fact, "line"), function=text(fact, "function"))
        yield GraphBreak(where, text(fact, "reason"))
