"""The summary of a long run: a minute a row, put together to at most `MAX_ROWS` rows.

The details of such a run are its beginning and its latest stretch; this is what tells of the time between.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..recording import RankRecording
from ..report import Minute

MAX_ROWS = 1000
_START, _END, _STEPS, _SUM, _SHORTEST, _LONGEST = range(6)


def minutes_of(recording: RankRecording, origin_ns: int) -> list[Minute]:
    """The rows in order of time; empty for a run that was kept whole. ``origin_ns`` is where seconds count from."""
    rows = recording.minutes[recording.minutes[:, _STEPS] > 0]
    if not len(rows):
        return []
    rows = rows[np.argsort(rows[:, _START], kind="stable")]
    parts = np.array_split(rows, min(len(rows), MAX_ROWS))
    return [_row(part, origin_ns) for part in parts]


def _row(part: NDArray[np.int64], origin_ns: int) -> Minute:
    steps = int(part[:, _STEPS].sum())
    return Minute(
        start_s=float(part[0, _START] - origin_ns) / 1e9,
        seconds=float(part[-1, _END] - part[0, _START]) / 1e9,
        steps=steps,
        mean_s=float(part[:, _SUM].astype(np.float64).sum()) / 1e9 / steps,
        shortest_s=float(part[:, _SHORTEST].min()) / 1e9,
        longest_s=float(part[:, _LONGEST].max()) / 1e9,
    )


def summarised_steps(recording: RankRecording, step_starts_ns: NDArray[np.int64]) -> int:
    """Steps that were made and of which no detail is left.

    The summary is of all steps after the beginning, so those of it that are still there are taken off.
    """
    rows = recording.minutes
    if not len(rows):
        return 0
    kept = np.count_nonzero(
        (step_starts_ns >= rows[:, _START].min()) & (step_starts_ns < rows[:, _END].max())
    )
    return max(int(rows[:, _STEPS].sum()) - int(kept), 0)
