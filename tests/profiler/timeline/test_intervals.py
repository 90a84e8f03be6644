"""Interval algebra against the same algebra on sets of integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from trainrx.profiler.timeline import intervals as iv
from trainrx.profiler.timeline.intervals import Intervals

PAIRS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), max_size=12)


def made(pairs: list[tuple[int, int]]) -> Intervals:
    table = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return iv.union(table[:, 0], table[:, 1])


def instants(a: Intervals) -> set[int]:
    return {time for start, end in zip(a.start, a.end, strict=True) for time in range(start, end)}


def covered(pairs: list[tuple[int, int]]) -> set[int]:
    return {time for start, end in pairs for time in range(start, end)}


def assert_normal(a: Intervals) -> None:
    assert (a.end > a.start).all()
    assert (a.start[1:] > a.end[:-1]).all()


@given(PAIRS)
def test_union_covers_exactly_what_any_covers(pairs: list[tuple[int, int]]) -> None:
    a = made(pairs)
    assert_normal(a)
    assert instants(a) == covered(pairs)
    assert a.total_ns == len(covered(pairs))


@given(PAIRS, PAIRS)
def test_operators_are_set_operators(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    a, b = made(left), made(right)
    assert instants(a & b) == instants(a) & instants(b)
    assert instants(a | b) == instants(a) | instants(b)
    assert instants(a - b) == instants(a) - instants(b)
    assert_normal(a - b)
    assert_normal(a | b)


@given(PAIRS, PAIRS)
def test_parts_add_up(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    a, b = made(left), made(right)
    assert (a & b).total_ns + (a - b).total_ns == a.total_ns


@given(PAIRS, st.integers(-60, 60), st.integers(-60, 60))
def test_gaps_are_what_is_left_of_a_span(pairs: list[tuple[int, int]], low: int, high: int) -> None:
    a = made(pairs)
    assert instants(iv.gaps(a, low, high)) == set(range(low, high)) - instants(a)
    assert instants(iv.clip(a, low, high)) == set(range(low, high)) & instants(a)


@given(PAIRS, st.lists(st.tuples(st.integers(-60, 60), st.integers(-60, 60)), max_size=6))
def test_covered_within_counts_instants(pairs: list[tuple[int, int]], windows: list[tuple[int, int]]) -> None:
    a = made(pairs)
    table = np.array(windows, dtype=np.int64).reshape(len(windows), 2)
    found = iv.covered_within(a, table[:, 0], table[:, 1])
    assert found.tolist() == [len(set(range(low, high)) & instants(a)) for low, high in windows]


@given(PAIRS, st.lists(st.integers(-60, 60), max_size=10))
def test_contains_is_membership(pairs: list[tuple[int, int]], times: list[int]) -> None:
    a = made(pairs)
    found = iv.contains(a, np.array(times, dtype=np.int64))
    assert found.tolist() == [time in instants(a) for time in times]
