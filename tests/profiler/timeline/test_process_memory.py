"""A steady rise is told from a jump and a plateau, whatever the readings' noise."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.process_memory import ProcessMemory, process_memory
from trainrx.profiler.timeline.steps import find_steps

MS = 1_000_000
MEGA = 2**20


def memory_of(make_recording, used: Callable[[int], float], *, steps: int = 40) -> ProcessMemory | None:
    spans = [(layout.STEP, 10 * n * MS, 10 * (n + 1) * MS, 1) for n in range(steps)]
    readings = [{"t": 10 * n * MS + 1, "resident_bytes": int(used(n))} for n in range(steps)]
    process = {"memory_limit_bytes": 8000 * MEGA, "memory_counted": "resident_bytes"}
    recording = make_recording(spans, facts={"memory": readings, "process": [process]})
    return process_memory(recording, find_steps(recording, warmup=5))


@given(growth=st.floats(0.1, 50), noise=st.lists(st.floats(-0.05, 0.05), min_size=40, max_size=40))
def test_a_rise_is_measured_per_step(make_recording, growth: float, noise: list[float]) -> None:
    found = memory_of(make_recording, lambda n: (500 + growth * (n + noise[n])) * MEGA)
    assert found is not None
    assert found.growth_bytes_per_step == pytest.approx(growth * MEGA, rel=0.1)
    assert found.rising_share > 0.9 and found.steps == pytest.approx(34, abs=0.1)
    assert found.steps_left == pytest.approx((8000 - 500 - 39 * growth) / growth, rel=0.15)


def test_a_plateau_rises_in_few_readings(make_recording) -> None:
    found = memory_of(make_recording, lambda n: (500 + 10 * min(n, 12)) * MEGA)
    assert found is not None and found.rising_share < 0.3
    assert found.limit_share == pytest.approx(620 / 8000)


def test_too_few_readings_tell_the_peak_alone(make_recording) -> None:
    found = memory_of(make_recording, lambda n: 500 * MEGA, steps=8)
    assert found is not None and found.peak_bytes == 500 * MEGA
    assert found.growth_bytes_per_step is None and found.steps_left is None


def test_readings_of_another_type_are_left_out(make_recording) -> None:
    recording = make_recording(
        [(layout.STEP, 0, 10, 1)], facts={"memory": [{"t": "x", "resident_bytes": None}]}
    )
    assert process_memory(recording, find_steps(recording, warmup=0)) is None


def test_objects_that_pile_up_and_the_stage_of_the_peak(make_recording) -> None:
    # GIVEN memory that peaks within an evaluation, and objects that nobody collects
    spans = [(layout.STEP, 10 * n * MS, 10 * (n + 1) * MS, 1) for n in range(20)]
    evaluated = [(layout.DATA_WAIT, 2), (layout.FORWARD, layout.WITHOUT_GRADIENTS)]
    trained = [(layout.DATA_WAIT, 1), (layout.FORWARD, 0), (layout.BACKWARD, 0), (layout.OPTIMIZER, 1)]
    for n in range(20):
        events = [*trained, *evaluated]
        spans += [
            (code, (10 * n + at) * MS, (10 * n + at + 1) * MS, argument)
            for at, (code, argument) in enumerate(events)
        ]
    readings = [
        {"t": (10 * n + (5 if n == 12 else 2)) * MS, "resident_bytes": (900 if n == 12 else 500) * MEGA,
         "uncollected": 300 * n}
        for n in range(20)
    ]  # fmt: skip
    recording = make_recording(
        spans, facts={"memory": readings, "process": [{"memory_counted": "resident_bytes"}]}
    )
    found = process_memory(recording, find_steps(recording, warmup=5))
    # THEN both are told
    assert found is not None and found.peak_in_evaluation
    assert found.uncollected_per_step == pytest.approx(300)


def test_what_is_in_use_at_all_times_is_the_lowest_reading(make_recording) -> None:
    found = memory_of(make_recording, lambda n: (500 + 300 * (n % 2)) * MEGA)
    assert found is not None
    assert (found.lowest_bytes, found.peak_bytes) == (500 * MEGA, 800 * MEGA)


@pytest.mark.parametrize(
    ("readings", "share"),
    [
        ([], None),
        ([(0, 2), (7, 7)], 1.0),
        ([(7, 7), (0, 7)], 0.0),  # a list that was emptied
        ([(None, 7)], None),
        ([(1, 0)], None),
    ],
)
def test_graphs_that_are_kept_count_as_last_read(make_recording, readings, share: float | None) -> None:
    # GIVEN readings during nine steps, and one while the script ends
    counts = [*((10 * n * MS, *reading) for n, reading in enumerate(readings)), (95 * MS, 0, 7)]
    facts = [
        {"t": moment, "resident_bytes": MEGA, "graphs_kept": kept, "graphs_watched": watched}
        for moment, kept, watched in counts
    ]
    spans = [(layout.STEP, 10 * n * MS, 10 * (n + 1) * MS, 1) for n in range(9)]
    recording = make_recording(spans, facts={"memory": facts})
    # WHEN memory is laid over the steps THEN the last one within them counts
    found = process_memory(recording, find_steps(recording, warmup=0))
    assert found is not None and found.kept_graphs_share == share
