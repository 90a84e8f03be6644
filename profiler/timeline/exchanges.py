"""What a rank exchanges with others in a step, by kind of collective: how often, how many bytes, how long it waits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..facts import whole
from ..recording import RankRecording
from ..report import CollectiveUse
from .stages import gradient_waits
from .steps import Steps

GRADIENTS = "all_reduce of gradients"
OF_UNKNOWN_KIND = "waits for functional collectives"


def collective_uses(recording: RankRecording, steps: Steps) -> list[CollectiveUse]:
    """One row for each kind within the timed steps, the longest wait first; empty where nothing was exchanged."""
    timed = int(steps.timed.sum())
    if not timed:
        return []
    issued = steps.within(recording.of_code(layout.COMMUNICATION))
    waited = steps.within(recording.of_code(layout.COMMUNICATION_WAIT))
    rows = [*_by_kind(issued, waited, timed), *_of_gradients(recording, steps, timed)]
    return sorted(rows, key=lambda row: -row.wait_s_per_step)


def _by_kind(issued: NDArray[np.int64], waited: NDArray[np.int64], steps: int) -> Iterator[CollectiveUse]:
    for number, kind in enumerate(layout.COLLECTIVE_KINDS):
        calls = issued[issued[:, 3] % layout.COLLECTIVE_UNIT == number]
        waits = waited[waited[:, 3] % layout.COLLECTIVE_UNIT == number]
        if not len(calls) and not len(waits):
            continue
        moved = int((calls[:, 3] // layout.COLLECTIVE_UNIT).sum())
        yield CollectiveUse(
            operation=kind if number else OF_UNKNOWN_KIND,
            calls_per_step=(len(calls) or len(waits)) / steps,
            bytes_per_step=moved / steps if moved else None,
            wait_s_per_step=(_seconds(calls) + _seconds(waits)) / steps,
        )


def _of_gradients(recording: RankRecording, steps: Steps, timed: int) -> Iterator[CollectiveUse]:
    """What ``DistributedDataParallel`` exchanges below Python: one row, its calls are backwards that average."""
    waits = steps.within(gradient_waits(recording))
    if not len(waits):
        return
    told = recording.facts.get("parallel", [])
    gradient_bytes = whole(told[-1], "gradient_bytes") if told else None
    yield CollectiveUse(
        operation=GRADIENTS,
        calls_per_step=len(waits) / timed,
        bytes_per_step=None if gradient_bytes is None else gradient_bytes * len(waits) / timed,
        wait_s_per_step=_seconds(waits) / timed,
    )


def _seconds(spans: NDArray[np.int64]) -> float:
    return float((spans[:, 2] - spans[:, 1]).sum()) / 1e9
