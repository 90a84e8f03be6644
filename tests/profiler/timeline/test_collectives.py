"""Collectives matched across ranks."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.timeline.collectives import CollectiveTimes, match

MS = 1_000_000


def rank(*spans: tuple[str, float, float]) -> CollectiveTimes:
    return CollectiveTimes(
        tuple(name for name, _, _ in spans),
        np.array([start * MS for _, start, _ in spans], dtype=np.int64),
        np.array([end * MS for _, _, end in spans], dtype=np.int64),
    )


def test_the_rank_that_others_wait_for_is_named() -> None:
    # GIVEN two ranks that arrive early and one that arrives last, all ending together
    matched = match(
        {
            0: rank(("allreduce", 0, 10), ("allreduce", 20, 30)),
            1: rank(("allreduce", 8, 10), ("allreduce", 28, 30)),
            2: rank(("allreduce", 1, 10), ("allreduce", 21, 30)),
        }
    )
    assert matched is not None
    # THEN the last is late, it waits for nobody, and wire time is what remains for all
    assert matched.late_rank == 1
    by_rank = {one.rank: one for one in matched.ranks}
    assert by_rank[1].waiting_ns == 0
    assert by_rank[0].waiting_ns == 16 * MS
    assert {one.wire_ns for one in matched.ranks} == {4 * MS}
    assert by_rank[1].times_last == 2


def test_ranks_that_arrive_together_have_no_late_one() -> None:
    matched = match({0: rank(("allgather", 0, 5)), 1: rank(("allgather", 0.001, 5))})
    assert matched is not None
    assert matched.late_rank is None


def test_clocks_are_aligned_by_ends() -> None:
    matched = match({0: rank(("allreduce", 0, 10)), 1: rank(("allreduce", 1008, 1010))})
    assert matched is not None
    assert matched.late_rank == 1
    assert matched.skew_max_ns == 8 * MS


def test_a_rank_that_saw_more_is_matched_by_its_last_ones() -> None:
    matched = match({0: rank(("a", 0, 1), ("a", 10, 20)), 1: rank(("a", 18, 20))})
    assert matched is not None
    assert (matched.matched, matched.unmatched, matched.late_rank) == (1, 1, 1)


def test_one_long_name_does_not_widen_all_others() -> None:
    # GIVEN a thousand collectives, one of a group whose name has 100,000 letters
    spans = [("allreduce", at, at + 1) for at in range(1000)] + [("in " + "x" * 100_000, 1000, 1001)]
    ranks = {0: rank(*spans), 1: rank(*spans)}
    # WHEN they are matched
    tracemalloc.start()
    try:
        matched = match(ranks)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # THEN that takes no memory for the letters of each
    assert matched is not None and matched.matched == 1001
    assert peak_bytes < 50_000_000


def test_nothing_in_common_is_no_match() -> None:
    assert match({0: rank(("a", 0, 1))}) is None
    assert match({0: rank(("a", 0, 1)), 1: rank(("b", 0, 1))}) is None
    assert match({0: rank(), 1: rank()}) is None


@given(st.lists(st.lists(st.floats(0, 9), min_size=3, max_size=3), min_size=2, max_size=5))
def test_waiting_and_wire_time_fill_each_collective(arrivals: list[list[float]]) -> None:
    ranks = {
        number: rank(
            *[("allreduce", 20 * place + start, 20 * place + 10) for place, start in enumerate(starts)]
        )
        for number, starts in enumerate(arrivals)
    }
    matched = match(ranks)
    assert matched is not None
    for one in matched.ranks:
        busy = int((ranks[one.rank].end_ns - ranks[one.rank].start_ns).sum())
        assert abs(one.waiting_ns + one.wire_ns - busy) <= 10
    assert sum(one.times_last for one in matched.ranks) == 3
