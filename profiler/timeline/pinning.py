"""What copying batches to page-locked memory takes, and how much of the wait for data it is."""

from __future__ import annotations

import numpy as np

from ..agent import format as layout
from ..recording import RankRecording
from ..report import PinningReport
from .intervals import union


def pinning_report(recording: RankRecording, loader: int, window: tuple[int, int]) -> PinningReport | None:
    """The pinning of one loader's batches that began in a stretch of nanoseconds; None where none was pinned there."""
    pins = recording.of_code(layout.PINNING)
    pins = pins[
        (pins[:, 3] % layout.READY_UNIT == loader) & (pins[:, 1] >= window[0]) & (pins[:, 1] < window[1])
    ]
    if not len(pins):
        return None
    fetches = recording.of_code(layout.DATA_WAIT)
    fetches = fetches[
        (fetches[:, 3] % layout.READY_UNIT == loader)
        & (fetches[:, 1] >= window[0])
        & (fetches[:, 1] < window[1])
    ]
    waits, busy = union(fetches[:, 1], fetches[:, 2]), union(pins[:, 1], pins[:, 2])
    return PinningReport(
        batches=len(pins),
        wall_s=float(np.mean(pins[:, 2] - pins[:, 1])) / 1e9,
        cpu_s=float(np.mean(pins[:, 3] // layout.READY_UNIT)) / 1e9,
        wait_share=(waits & busy).total_ns / waits.total_ns if waits.total_ns else 0.0,
    )
