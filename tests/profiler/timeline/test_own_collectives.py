"""Collectives of the script within the timed steps, tiny ones apart."""

from __future__ import annotations

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.own_collectives import OwnCollectives, own_collectives
from trainrx.profiler.timeline.steps import find_steps

MS = 1_000_000


def test_tiny_ones_are_counted_apart_and_warm_up_is_left_out(make_recording) -> None:
    # GIVEN steps of 10 ms with a loss of 4 bytes (2 ms), a gradient of 9 kB (3 ms) and a barrier
    spans = [(layout.STEP, 10 * n * MS, 10 * (n + 1) * MS, 1) for n in range(12)]
    for n in range(12):
        at = 10 * n * MS
        spans += [
            (layout.COMMUNICATION, at + MS, at + 3 * MS, 4 * layout.COLLECTIVE_UNIT),
            (layout.COMMUNICATION, at + 4 * MS, at + 7 * MS, 9_000 * layout.COLLECTIVE_UNIT),
            (layout.COMMUNICATION, at + 8 * MS, at + 9 * MS, 0),
        ]
    recording = make_recording(spans)
    # WHEN they are laid over the timed steps
    found = own_collectives(recording, find_steps(recording, warmup=5))
    # THEN each step has three, one of them tiny
    assert (found.per_step, found.tiny_per_step) == (3.0, 1.0)
    assert found.tiny_s == pytest.approx(0.002)


def test_a_run_without_collectives_or_steps_has_none(make_recording) -> None:
    alone = make_recording([(layout.STEP, 0, MS, 1)])
    assert own_collectives(alone, find_steps(alone, warmup=0)) == OwnCollectives()
    empty = make_recording([(layout.COMMUNICATION, 0, MS, 4)])
    assert own_collectives(empty, find_steps(empty, warmup=0)) == OwnCollectives()
