"""Curves of one training: best so far, cost to a quality and back, and what holds for all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.advisor.compare.curves import (
    Curve,
    Direction,
    best_so_far,
    cost_to_quality,
    curve,
    quality_at_cost,
)

HIGHER, LOWER = Direction.HIGHER, Direction.LOWER


def made(cost: list[float], quality: list[float], direction: Direction = HIGHER) -> Curve:
    found = curve(cost, quality, direction)
    assert found is not None
    return found


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    qualities = draw(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30))
    costs = np.cumsum(draw(st.lists(st.integers(1, 50), min_size=len(qualities), max_size=len(qualities))))
    return made([float(cost) for cost in costs], qualities, draw(st.sampled_from(Direction)))


def test_a_quality_between_two_points_is_interpolated() -> None:
    found = cost_to_quality(made([10, 20], [0.5, 0.7]), 0.6)
    assert found is not None
    assert found.cost == pytest.approx(15) and not found.at_most


def test_the_flat_stretch_before_a_rise_is_paid_too() -> None:
    assert cost_to_quality(made([10, 20, 30], [0.5, 0.4, 0.7]), 0.6).cost == pytest.approx(25)  # type: ignore[union-attr]


def test_what_is_never_reached_is_no_number() -> None:
    assert cost_to_quality(made([1, 2], [0.5, 0.6]), 0.61) is None
    assert cost_to_quality(made([1, 2], [0.5, 0.6], LOWER), 0.49) is None


def test_a_quality_had_at_the_first_point_cost_at_most_that() -> None:
    found = cost_to_quality(made([5, 6], [0.5, 0.6]), 0.2)
    assert found is not None and found.cost == 5 and found.at_most


def test_a_lower_loss_is_better() -> None:
    loss = made([1, 2, 3], [3.0, 1.0, 2.0], LOWER)
    assert best_so_far(loss).tolist() == [3, 1, 1]
    assert cost_to_quality(loss, 2.0).cost == pytest.approx(1.5)  # type: ignore[union-attr]


def test_a_training_that_broke_is_diverged_and_keeps_its_best() -> None:
    broken = made([1, 2, 3], [2.0, 1.0, math.nan], LOWER)
    assert broken.diverged and broken.best == 1
    assert cost_to_quality(broken, 0.5) is None


def test_a_training_without_a_finite_quality_reaches_nothing() -> None:
    broken = made([1, 2], [math.nan, math.inf])
    assert broken.best is None and broken.first is None
    assert cost_to_quality(broken, 0.0) is None and quality_at_cost(broken, 1) is None


def test_points_are_put_in_order_and_the_last_at_a_cost_counts() -> None:
    found = made([2, 1, 2, math.nan, -1], [0.2, 0.1, 0.3, 9, 9])
    assert found.cost.tolist() == [1, 2] and found.quality.tolist() == [0.1, 0.3]
    assert curve([math.nan], [1.0], HIGHER) is None


def test_nothing_is_read_beyond_what_was_measured() -> None:
    one = made([10, 20], [0.1, 0.2])
    assert quality_at_cost(one, 15) == pytest.approx(0.15)
    assert quality_at_cost(one, 9) is None and quality_at_cost(one, 21) is None


@given(curves())
def test_best_so_far_never_gets_worse(one: Curve) -> None:
    line = best_so_far(one) * one.direction.sign
    assert bool(np.all(np.diff(line) >= 0))
    assert bool(np.all(line >= one.quality * one.direction.sign))


@given(curves(), st.floats(0, 1))
def test_a_cost_read_from_a_quality_buys_that_quality(one: Curve, share: float) -> None:
    best, first = one.best, one.first
    assert best is not None and first is not None
    quality = first + share * (best - first)
    found = cost_to_quality(one, quality)
    if found is not None:
        bought = quality_at_cost(one, found.cost)
        assert bought is not None
        assert bought * one.direction.sign >= quality * one.direction.sign - 1e-6


@given(curves(), st.floats(0, 1), st.floats(0, 1))
def test_a_better_quality_never_costs_less(one: Curve, first: float, second: float) -> None:
    worse, better = sorted((first, second), key=lambda value: value * one.direction.sign)
    costs = [cost_to_quality(one, quality) for quality in (worse, better)]
    if costs[1] is not None:
        assert costs[0] is not None and costs[0].cost <= costs[1].cost
