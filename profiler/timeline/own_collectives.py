"""Collectives that a script calls itself, apart from those of data parallelism: how many, and how many are tiny."""

from __future__ import annotations

from dataclasses import dataclass

from ..agent import format as layout
from ..recording import RankRecording
from .steps import Steps

#: Up to this size a collective carries numbers to look at, such as losses: no gradient of a layer.
TINY_BYTES = 1024


@dataclass(frozen=True)
class OwnCollectives:
    """Collectives per timed step; seconds are those that the training thread spent in them.

    Attributes:
        per_step: all of them.
        tiny_per_step: those whose tensors hold at most `TINY_BYTES`.
        tiny_s: seconds in the tiny ones.
    """

    per_step: float = 0.0
    tiny_per_step: float = 0.0
    tiny_s: float = 0.0


def own_collectives(recording: RankRecording, steps: Steps) -> OwnCollectives:
    """The script's own collectives within the timed steps."""
    spans = recording.of_code(layout.COMMUNICATION)
    n = int(steps.timed.sum())
    if not len(spans) or not n:
        return OwnCollectives()
    spans = steps.within(spans)
    moved_bytes = spans[:, 3] // layout.COLLECTIVE_UNIT
    tiny = spans[(moved_bytes > 0) & (moved_bytes <= TINY_BYTES)]
    return OwnCollectives(
        per_step=len(spans) / n,
        tiny_per_step=len(tiny) / n,
        tiny_s=float((tiny[:, 2] - tiny[:, 1]).sum()) / 1e9 / n,
    )
