"""Pauses of the garbage collector and compilations, by the stage they fell into and the place they arose at."""

from __future__ import annotations

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.interruptions import compilations, garbage_pauses
from trainrx.profiler.timeline.stages import stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Stage

MS = 1_000_000
STEPS = [(layout.STEP, 10 * n * MS, 10 * (n + 1) * MS, 1) for n in range(6)]
FORWARDS = [(layout.FORWARD, 10 * n * MS, (10 * n + 4) * MS, 0) for n in range(6)]
PLACE = {"number": 1, "frames": [["train.py", 23, "main", "gc.collect()"]]}


def laid_out(make_recording, *spans: tuple[int, int, int, int]):
    recording = make_recording([*STEPS, *FORWARDS, *spans], facts={"garbage_place": [PLACE]})
    steps = find_steps(recording, warmup=1)
    return recording, steps, stage_times(recording, steps)


def test_pauses_fall_into_stages_and_keep_their_place(make_recording) -> None:
    # GIVEN a pause in a forward, two between the stages, and one in the warm-up
    place = layout.PLACE_UNIT
    made = laid_out(
        make_recording,
        (layout.GARBAGE, 21 * MS, 22 * MS, 0),
        (layout.GARBAGE, 26 * MS, 28 * MS, 2 + place),
        (layout.GARBAGE, 36 * MS, 38 * MS, 2 + place),
        (layout.GARBAGE, 6 * MS, 8 * MS, 2 + place),
    )
    # WHEN they are summed over the five timed steps
    found = garbage_pauses(*made)
    # THEN each counts where it fell
    assert found.seconds == {Stage.FORWARD: pytest.approx(0.2e-3), Stage.HOST: pytest.approx(0.8e-3)}
    assert found.per_step == pytest.approx(3 / 5)
    ((frame, seconds),) = found.places
    assert (frame.line, frame.text) == (23, "gc.collect()") and seconds == pytest.approx(0.8e-3)


def test_collecting_while_compiling_is_compiling(make_recording) -> None:
    made = laid_out(
        make_recording, (layout.COMPILATION, 20 * MS, 24 * MS, 0), (layout.GARBAGE, 21 * MS, 22 * MS, 2)
    )
    assert garbage_pauses(*made).seconds == {}
    assert compilations(*made).seconds == {Stage.FORWARD: pytest.approx(0.8e-3)}
    assert compilations(*made).total_s == pytest.approx(0.8e-3)


def test_nothing_interrupts(make_recording) -> None:
    made = laid_out(make_recording)
    assert garbage_pauses(*made).seconds == {} and compilations(*made).per_step == 0
