"""What became of a compiled model: into how many pieces it was broken, where, and whether the compiler gave up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..facts import Facts, text, whole
from ..recording import RankRecording
from ..report import Where


@dataclass(frozen=True)
class GraphBreak:
    """A place at which TorchDynamo broke a model; ``reason`` is its own sentence."""

    where: Where
    reason: str | None


@dataclass(frozen=True)
class Recompilation:
    """A function that was compiled anew; ``reason`` is the check of TorchDynamo's that failed."""

    where: Where
    reason: str


@dataclass(frozen=True)
class CompiledModel:
    """How a model was compiled.

    Attributes:
        breaks: where it was broken, in the order in which that was found.
        pieces_per_backward: compiled graphs that a backward runs, in the mean; None where none was counted.
        recompilations: what made it compile functions anew, each time as far as that was noted, in order.
        limit: the compiler's limit that was hit, after which functions run as if they were not compiled; None if none.
    """

    breaks: tuple[GraphBreak, ...] = ()
    recompilations: tuple[Recompilation, ...] = ()
    pieces_per_backward: float | None = None
    limit: str | None = None


def compiled_model(recording: RankRecording) -> CompiledModel:
    """What a rank noted of compiling; empty where nothing was compiled."""
    facts = recording.facts
    counts = [n for fact in facts.get("graph", []) if (n := whole(fact, "compiled_pieces")) is not None]
    limits = [limit for fact in facts.get("recompile_limit", []) if (limit := text(fact, "limit"))]
    return CompiledModel(
        breaks=tuple(_breaks(recording)),
        recompilations=tuple(_recompilations(recording)),
        pieces_per_backward=float(np.mean(counts)) if counts else None,
        limit=limits[0] if limits else None,
    )


def _breaks(recording: RankRecording) -> Iterator[GraphBreak]:
    for fact in recording.facts.get("graph_break", []):
        yield GraphBreak(_where(fact), text(fact, "reason"))


def _recompilations(recording: RankRecording) -> Iterator[Recompilation]:
    for fact in recording.facts.get("recompilation", []):
        reason = text(fact, "reason")
        if reason:
            yield Recompilation(_where(fact), reason)


def _where(fact: Facts) -> Where:
    return Where(file=text(fact, "file"), line=whole(fact, "line"), function=text(fact, "function"))
