"""Tells evaluation from training: loaders that only feed forwards without gradients, and what runs between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..agent import format as layout
from ..recording import RankRecording
from .intervals import contains, union

Ints = NDArray[np.int64]
_FETCHES = (layout.DATA_WAIT, layout.LOADER_START, layout.LOADER_END)


def evaluation_intervals(recording: RankRecording) -> tuple[Ints, Ints]:
    """Starts and ends (ns) of the evaluation passes, disjoint and in order, each shape (k,).

    A pass runs from the first to the last of consecutive evaluation events: fetches from an evaluation loader, or
    forwards without gradients that follow such a fetch or, after an update, precede the next training fetch. Forwards
    in evaluation mode that no backward follows use their gradients as little as those that have none.
    """
    events = _events(recording)
    if not len(events):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    is_evaluation = _evaluation_events(events)
    padded = np.diff(np.concatenate([[0], is_evaluation.astype(np.int8), [0]]))
    first, last = np.flatnonzero(padded == 1), np.flatnonzero(padded == -1) - 1
    return events[first, 1], events[last, 2]


def evaluation_loaders(recording: RankRecording) -> frozenset[int]:
    """Numbers of the loaders whose batches were only evaluated on, as the recorder counts loaders."""
    events = _events(recording)
    return (
        frozenset(_only_evaluated(events, _without_gradient(events)).tolist()) if len(events) else frozenset()
    )


def _events(recording: RankRecording) -> Ints:
    """Fetches, forwards of whole models, backwards and updates in order, shape (n, 4)."""
    events = recording.of_code(*_FETCHES, layout.FORWARD, layout.BACKWARD, layout.OPTIMIZER)
    return events[(events[:, 0] != layout.FORWARD) | (events[:, 3] != layout.OF_NO_PARTS)]


def _without_gradient(events: Ints) -> NDArray[np.bool_]:
    """Which events are forwards that nothing is learned from."""
    code, argument = events[:, 0], events[:, 3] % layout.READY_UNIT
    marked = (code == layout.FORWARD) & (argument == layout.WITHOUT_GRADIENTS)
    return marked | _never_learned_from(code, argument)


def _evaluation_events(events: Ints) -> NDArray[np.bool_]:
    code, argument = events[:, 0], events[:, 3] % layout.READY_UNIT
    fetch = np.isin(code, _FETCHES)
    without_gradient = _without_gradient(events)
    evaluation_fetch = fetch & np.isin(argument, _only_evaluated(events, without_gradient))
    training_fetch = fetch & ~evaluation_fetch
    since = _last_of(np.stack([evaluation_fetch, training_fetch, code == layout.OPTIMIZER]))
    follows_update = (since == 2) & bool(training_fetch.any())
    return evaluation_fetch | (without_gradient & ((since == 0) | follows_update))


def _never_learned_from(code: Ints, argument: Ints) -> NDArray[np.bool_]:
    """Forwards with gradients in evaluation mode that something else than a backward follows."""
    idle = (code == layout.FORWARD) & (argument == layout.IN_EVALUATION_MODE)
    others = np.flatnonzero(~idle)
    following = np.searchsorted(others, np.flatnonzero(idle))
    learned = np.append(code[others], layout.OPTIMIZER)[following] == layout.BACKWARD
    found = idle.copy()
    found[idle] = ~learned
    return found


def gradient_share(recording: RankRecording) -> float | None:
    """Share of the forwards of evaluation passes that keep gradients for nothing; None where nothing was evaluated."""
    forwards = recording.of_code(layout.FORWARD)
    inside = contains(union(*evaluation_intervals(recording)), forwards[:, 1])
    sorts = forwards[inside & (forwards[:, 3] != layout.OF_NO_PARTS), 3]
    return None if not len(sorts) else float(np.mean(sorts == layout.IN_EVALUATION_MODE))


def _only_evaluated(events: Ints, without_gradient: NDArray[np.bool_]) -> Ints:
    """Numbers of the loaders whose batches never reach a training event before the next fetch."""
    fetch = np.isin(events[:, 0], _FETCHES)
    group = np.cumsum(fetch)
    groups = int(group[-1]) + 1
    trains = np.bincount(group, weights=~fetch & ~without_gradient, minlength=groups) > 0
    evaluates = np.bincount(group, weights=without_gradient, minlength=groups) > 0
    loader = events[fetch, 3] % layout.READY_UNIT
    is_batch = events[fetch, 0] == layout.DATA_WAIT
    loaders = np.unique(loader)
    return np.array(
        [
            number
            for number in loaders
            if evaluates[1:][(loader == number) & is_batch].any()
            and not trains[1:][(loader == number) & is_batch].any()
        ],
        dtype=np.int64,
    )


def _last_of(marks: NDArray[np.bool_]) -> Ints:
    """For each event the row of ``marks`` (rows, n) that was set last at or before it; -1 before any."""
    n = marks.shape[1]
    position = np.where(marks, np.arange(n), -1)
    latest = np.maximum.accumulate(position, axis=1)
    return np.where(latest.max(axis=0) < 0, -1, latest.argmax(axis=0))
