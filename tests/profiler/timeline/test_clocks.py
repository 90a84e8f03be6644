"""Offsets between the clocks of ranks, told by collectives on clocks that were set apart by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.agent import format as layout
from trainrx.profiler.report import ClockBasis
from trainrx.profiler.timeline.clocks import from_meetings, rank_clocks

US, MS, S = 1_000, 1_000_000, 1_000_000_000


def meetings(offset_ns: float, drift: float, *, steps: int = 200, step_ns: int = 100 * MS, seed: int = 0):
    """Collectives of two ranks that arrive apart and leave within 40 µs of each other; rank 1 on a clock of its own."""
    random = np.random.default_rng(seed)
    arrive = np.arange(steps)[:, None] * step_ns + random.uniform(0, 5 * MS, (steps, 2)) + S
    leave = arrive.max(axis=1, keepdims=True) + 200 * US + random.uniform(0, 40 * US, (steps, 2))
    own = [times[:, 1] * (1 + drift) + offset_ns for times in (arrive, leave)]
    return np.stack([arrive[:, 0], leave[:, 0], *own], axis=1)


@given(offset=st.floats(-1e12, 1e12), drift=st.floats(-1e-4, 1e-4), seed=st.integers(0, 100))
def test_an_offset_and_a_drift_are_found_within_what_is_said_to_be_uncertain(offset, drift, seed) -> None:
    # GIVEN a rank whose clock is ahead and gains, over 20 s
    told = meetings(offset, drift, seed=seed)
    clock = from_meetings(told)
    assert clock is not None and clock.basis is ClockBasis.COLLECTIVES and clock.meetings == 200
    # THEN drift and offset are found, and no moment is placed further off than the uncertainty
    assert clock.drift == pytest.approx(drift, abs=2e-5)
    assert clock.uncertainty_ns is not None and clock.uncertainty_ns < 400 * US
    true = (told[:, 3] - offset) / (1 + drift)
    middle = len(true) // 2
    assert clock.to_reference(told[middle, 3]) == pytest.approx(true[middle], abs=clock.uncertainty_ns + 1)


def test_a_short_run_is_told_no_drift() -> None:
    clock = from_meetings(meetings(5 * S, 0.0, steps=10))
    assert clock is not None and clock.drift == 0 and clock.info().drift_ppm is None
    assert clock.info().offset_s == pytest.approx(5.0, abs=1e-3)


def test_one_collective_bounds_the_offset_by_its_length() -> None:
    # GIVEN a barrier from 10 to 14 here and from 113 to 114 on the clock there
    clock = from_meetings(np.array([[10.0, 14.0, 113.0, 114.0]]))
    # THEN the other clock is between 113 - 14 and 114 - 10 ahead
    assert clock is not None and (clock.offset_ns, clock.uncertainty_ns) == (100.0, 4.0)


def test_collectives_that_do_not_synchronise_give_their_spread() -> None:
    # GIVEN calls of two ranks in groups of their own, which never overlap on any one offset
    apart = np.array([[0.0, 1.0, 50.0, 51.0], [100.0, 101.0, 190.0, 191.0], [200.0, 201.0, 270.0, 271.0]])
    clock = from_meetings(apart)
    assert clock is not None and clock.offset_ns == pytest.approx(70.0)
    assert clock.uncertainty_ns == pytest.approx(20.0, abs=2.0)


def process(clock: str | None, **more: int) -> dict[str, list[dict[str, object]]]:
    return {"process": [{"clock": clock, **more}]}


def steps_with(kind: str, apart_ns: int, *, count: int = 5):
    """Steps of 10 ms, each with one collective of a kind."""
    number = layout.COLLECTIVE_KINDS.index(kind)
    for start in range(apart_ns, apart_ns + count * 10 * MS, 10 * MS):
        yield layout.STEP, start, start + 10 * MS, 1
        yield layout.COMMUNICATION, start + 2 * MS, start + 3 * MS, number + 4096 * layout.COLLECTIVE_UNIT


def test_ranks_of_one_machine_read_one_clock(make_recording) -> None:
    ranks = [make_recording([], facts=process("boot a")) for _ in range(3)]
    assert [clock.basis for clock in rank_clocks(ranks)] == [ClockBasis.SAME] * 3


@pytest.mark.parametrize(
    ("kind", "basis", "offset_s"),
    [("all_reduce", ClockBasis.COLLECTIVES, 7.0), ("broadcast", ClockBasis.WALL, 7.5)],
)
def test_ranks_of_two_machines(make_recording, kind: str, basis: ClockBasis, offset_s: float) -> None:
    # GIVEN a rank on another machine whose clock is 7 s ahead, or 7.5 s if its wall clock were right
    here = make_recording(
        steps_with(kind, S), facts=process("boot a", wall_time_ns=100 * S, perf_counter_ns=S)
    )
    there = make_recording(
        steps_with(kind, 8 * S),
        facts=process("boot b", wall_time_ns=100 * S, perf_counter_ns=S + 15 * S // 2),
    )
    # WHEN they exchange what synchronises them, or only what does not
    _, clock = rank_clocks([here, there])
    # THEN that decides what the offset rests on
    assert clock.basis is basis
    assert clock.offset_ns / 1e9 == pytest.approx(offset_s, abs=2e-3)
    assert (clock.uncertainty_ns is None) == (basis is ClockBasis.WALL)


def test_steps_in_which_the_ranks_differ_are_left_out(make_recording) -> None:
    here = make_recording(
        [*steps_with("all_reduce", 0, count=3), (layout.COMMUNICATION, 5, 9, 1)], facts=process("a")
    )
    there = make_recording(steps_with("all_reduce", 0, count=3), facts=process("b"))
    assert rank_clocks([here, there])[1].meetings == 2


def test_a_rank_that_told_nothing_is_not_guessed_at(make_recording) -> None:
    clocks = rank_clocks([make_recording([]), make_recording([])])
    assert clocks[1].basis is ClockBasis.UNKNOWN
    assert rank_clocks([]) == []
