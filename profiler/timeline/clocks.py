"""How far the clocks of ranks lie apart, so that moments of different ranks can be compared.

Ranks on one machine read one clock. Elsewhere collectives tell: one that synchronises ends on no rank before it began
on every other, so each bounds the offset from both sides, and many together bound it tightly, whatever the network
does. (Gradients count from the moment that they were ready, some µs after the last of them was sent.) Ranks that share
no such collective are compared by their wall clocks, which are as good as the machines' own synchronisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..facts import text, whole
from ..recording import RankRecording
from ..report import ClockBasis, ClockInfo
from .stages import gradient_waits

#: Collectives in which every rank waits for every other.
SYNCHRONISING = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")
_KINDS = tuple(layout.COLLECTIVE_KINDS.index(kind) for kind in SYNCHRONISING)
#: A drift is told from so many collectives on, over so many seconds: below, jitter would pass for it.
MIN_FOR_DRIFT = 20
MIN_DRIFT_S = 10.0
Meetings = NDArray[np.float64]


@dataclass(frozen=True)
class RankClock:
    """A rank's clock against that of the reference rank.

    Attributes:
        offset_ns: how far it is ahead, at ``at_ns`` of the reference's clock.
        drift: nanoseconds that it gains per nanosecond of the reference's clock.
        uncertainty_ns: the true offset lies within so much of it; None where that is not known.
    """

    offset_ns: float
    uncertainty_ns: float | None
    basis: ClockBasis
    drift: float = 0.0
    at_ns: float = 0.0
    meetings: int = 0

    def to_reference(self, time_ns: float) -> float:
        """A moment of this rank on the reference's clock."""
        ahead = self.offset_ns - self.drift * self.at_ns
        return (time_ns - ahead) / (1 + self.drift)

    def info(self) -> ClockInfo:
        """What the report says of it."""
        return ClockInfo(
            offset_s=self.offset_ns / 1e9,
            uncertainty_s=None if self.uncertainty_ns is None else self.uncertainty_ns / 1e9,
            drift_ppm=self.drift * 1e6 if self.drift else None,
            basis=self.basis,
            collectives=self.meetings,
        )


SAME = RankClock(offset_ns=0.0, uncertainty_ns=0.0, basis=ClockBasis.SAME)


def rank_clocks(recordings: Sequence[RankRecording]) -> list[RankClock]:
    """Each rank's clock against the first rank's."""
    if not recordings:
        return []
    reference, *others = recordings
    return [SAME, *(_clock(reference, other) for other in others)]


def _clock(reference: RankRecording, other: RankRecording) -> RankClock:
    ours, theirs = text(reference.process, "clock"), text(other.process, "clock")
    if ours is not None and ours == theirs:
        return SAME
    found = from_meetings(_meetings(reference, other))
    return found if found is not None else _from_wall_clocks(reference.process, other.process)


def from_meetings(meetings: Meetings) -> RankClock | None:
    """The clock that synchronising collectives tell.

    Args:
        meetings: shape (n, 4), ns: start and end on the reference, start and end on the other rank.

    Returns:
        None without any. The drift is the median slope between the halves of the run; the offset is where the ends
        agree in the median, moved into the bounds that starts and ends set.
    """
    if not len(meetings):
        return None
    start, end, other_start, other_end = meetings.T
    ahead = other_end - end
    drift = _drift(end, ahead)
    at = float(np.median(end))
    straight = drift * (end - at)
    low = float((other_start - end - straight).max())
    high = float((other_end - start - straight).min())
    offset = float(np.median(ahead - straight))
    if low <= high:
        offset = min(max(offset, low), high)
        uncertainty = max(high - offset, offset - low)
    else:  # not all of them synchronise these two ranks
        uncertainty = float(np.quantile(np.abs(ahead - straight - offset), 0.95))
    return RankClock(offset, uncertainty, ClockBasis.COLLECTIVES, drift, at, len(meetings))


def _drift(at_ns: NDArray[np.float64], ahead_ns: NDArray[np.float64]) -> float:
    """Median slope between collectives half a run apart; 0 where the run is too short to tell."""
    half = len(at_ns) // 2
    if len(at_ns) < MIN_FOR_DRIFT or np.ptp(at_ns) < MIN_DRIFT_S * 1e9:
        return 0.0
    return float(np.median((ahead_ns[half:] - ahead_ns[:-half]) / (at_ns[half:] - at_ns[:-half])))


def _meetings(reference: RankRecording, other: RankRecording) -> Meetings:
    """The collectives that both took part in: in steps where both have as many, the n-th is the n-th."""
    ours, theirs = _by_step(reference), _by_step(other)
    pairs = [
        np.hstack([ours[step], theirs[step]])
        for step in sorted(ours.keys() & theirs.keys())
        if len(ours[step]) == len(theirs[step])
    ]
    return np.concatenate(pairs).astype(np.float64) if pairs else np.empty((0, 4))


def _by_step(recording: RankRecording) -> Mapping[int, NDArray[np.int64]]:
    """Start and end of the synchronising collectives of each step, by the step's number."""
    calls = recording.of_code(layout.COMMUNICATION)
    calls = calls[np.isin(calls[:, 3] % layout.COLLECTIVE_UNIT, _KINDS)]
    spans = np.concatenate([calls, gradient_waits(recording)])[:, 1:3]
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    steps = recording.of_code(layout.STEP, layout.STEP_TRACED)
    step = np.searchsorted(steps[:, 1], spans[:, 0], side="right") - 1
    inside = (step >= 0) & (spans[:, 1] <= steps[np.clip(step, 0, None), 2]) if len(steps) else step >= 0
    return {int(number): spans[inside & (step == number)] for number in np.unique(step[inside])}


def _from_wall_clocks(reference: Mapping[str, object], other: Mapping[str, object]) -> RankClock:
    """From the pair of clocks that each rank read at its start; with none, the clocks are taken as they are."""
    ours, theirs = _wall_less_own(reference), _wall_less_own(other)
    if ours is None or theirs is None:
        return RankClock(0.0, None, ClockBasis.UNKNOWN)
    return RankClock(float(ours - theirs), None, ClockBasis.WALL)


def _wall_less_own(process: Mapping[str, object]) -> int | None:
    wall, own = whole(process, "wall_time_ns"), whole(process, "perf_counter_ns")
    return None if wall is None or own is None else wall - own
