"""When ranks can be compared, and what the machine, not the rank, is to blame for."""

from __future__ import annotations

from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.lateness import Lateness, lateness
from trainrx.profiler.timeline.stages import stage_times
from trainrx.profiler.timeline.steps import find_steps

MS = 1_000_000


def compared(
    make_recording: Any, steps: list[int], shares: list[float | None] | None = None
) -> Lateness | None:
    """Ranks of so many steps of 100 ms, in which the later ranks wait for less long in collectives."""
    ranks = []
    for rank, count in enumerate(steps):
        spans = [
            record
            for at in range(0, count * 100 * MS, 100 * MS)
            for record in (
                (layout.STEP, at, at + 100 * MS, 1),
                (layout.COMMUNICATION, at, at + (60 - 20 * rank) * MS, 0),
            )
        ]
        recording = make_recording(spans)
        found = find_steps(recording, warmup=0)
        ranks.append((rank, found, stage_times(recording, found)))
    return lateness(ranks, shares or [])


@pytest.mark.parametrize("steps", [[], [10], [10, 0]])
def test_there_is_nothing_to_compare(make_recording: Any, steps: list[int]) -> None:
    assert compared(make_recording, steps) is None


def test_own_time_is_the_step_less_its_waits_over_the_steps_that_all_have(make_recording: Any) -> None:
    late = compared(make_recording, [10, 7])
    assert late is not None and late.own_s.shape == (2, 7)
    assert late.own_s.mean(axis=1) == pytest.approx([0.04, 0.06])
    assert late.wire_s == pytest.approx(0.04)
    assert (late.excess_s(0), late.excess_s(1)) == (0.0, pytest.approx(0.02))
    assert late.imbalance_s == pytest.approx(0.01)


def test_waiting_for_a_free_core_is_not_held_against_a_rank(make_recording: Any) -> None:
    late = compared(make_recording, [10, 10], [None, 0.3])
    assert late is not None
    assert late.own_s.mean(axis=1) == pytest.approx([0.04, 0.03])
    assert late.last_share == {0: 1.0, 1: 0.0}
