"""Speed-ups between methods: what holds for all curves, what seeds allow to claim, trainings that never arrive."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainrx.advisor.compare.curves import Curve, Direction, curve
from trainrx.advisor.compare.speedups import (
    Outcome,
    Sure,
    chance_of_claim,
    median_cost,
    outcome_at,
    shared_range,
    speedup_at,
    speedup_curve,
)


def made(cost: list[float], quality: list[float], direction: Direction = Direction.HIGHER) -> Curve:
    found = curve(cost, quality, direction)
    assert found is not None
    return found


def learned(pace: float, seed: int, end: float = 1.0) -> Curve:
    """A training that learns at ``pace``, with the noise of a seed."""
    noise = np.random.default_rng(seed)
    cost = np.arange(1, 31) * 10.0
    quality = end * (1 - np.exp(-cost * pace * noise.lognormal(0, 0.03) / 80))
    return made(cost.tolist(), (quality + noise.normal(0, 0.002, 30)).tolist())


@st.composite
def sides(draw: st.DrawFn) -> list[Curve]:
    """Seeds of a method, all in one direction."""
    direction = draw(st.sampled_from(Direction))
    count = draw(st.integers(1, 4))
    found: list[Curve] = []
    for _ in range(count):
        n = draw(st.integers(2, 12))
        qualities = draw(st.lists(st.floats(0, 1, width=32), min_size=n, max_size=n))
        steps = draw(st.lists(st.integers(1, 40), min_size=n, max_size=n))
        found.append(made(np.cumsum(steps).astype(float).tolist(), qualities, direction))
    return found


@given(sides())
@settings(deadline=None, max_examples=60)
def test_a_method_against_itself_is_1_everywhere_and_nothing_is_claimed(side: list[Curve]) -> None:
    found = speedup_curve(side, side)
    if found is None:
        return
    assert all(one.median == pytest.approx(1) for one in found.speedups)
    assert all(one.low is None or one.low <= 1.0000001 for one in found.speedups)
    assert all(one.high is None or one.high >= 0.9999999 for one in found.speedups)
    shared = shared_range([side, side])
    assert shared is not None
    assert outcome_at(side, side, shared[1]) is Outcome.NO_EVIDENCE


@given(sides(), st.sampled_from([0.25, 3.0, 10.0]))
@settings(deadline=None, max_examples=60)
def test_scaling_the_cost_by_k_scales_the_speedup_by_one_over_k(side: list[Curve], k: float) -> None:
    scaled = [Curve(one.cost * k, one.quality, one.direction) for one in side]
    found = speedup_curve(side, scaled)
    if found is not None:
        assert all(one.median == pytest.approx(1 / k) for one in found.speedups)


@given(sides(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_the_order_of_the_seeds_does_not_matter(side: list[Curve], random: object) -> None:
    other = [Curve(one.cost * 2, one.quality, one.direction) for one in side]
    shuffled = list(other)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = speedup_curve(side, other), speedup_curve(side[::-1], shuffled)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert first.speedups == second.speedups


def test_a_method_twice_as_fast_is_cheaper_over_the_whole_range() -> None:
    baseline, method = [learned(1, seed) for seed in range(4)], [learned(2, seed) for seed in range(10, 14)]
    found = speedup_curve(baseline, method)
    assert found is not None
    assert all(1.7 < one.median < 2.3 for one in found.speedups)
    assert outcome_at(baseline, method, 0.8) is Outcome.CHEAPER
    assert outcome_at(method, baseline, 0.8) is Outcome.COSTLIER


def test_two_seeds_show_a_number_and_claim_nothing() -> None:
    baseline, method = [learned(1, 0), learned(1, 1)], [learned(2, 2), learned(2, 3)]
    found = speedup_at(baseline, method, 0.8)
    assert found is not None and found.median == pytest.approx(2, rel=0.1)
    assert outcome_at(baseline, method, 0.8) is Outcome.NO_EVIDENCE


def test_one_seed_has_no_interval() -> None:
    found = speedup_at([learned(1, 0)], [learned(2, 1)], 0.8)
    assert found is not None and not found.has_interval
    assert found.low is None and found.high is None


def test_a_method_that_never_arrives_has_no_speedup() -> None:
    baseline, weak = [learned(1, seed) for seed in range(3)], [learned(4, seed, end=0.7) for seed in range(3)]
    assert speedup_at(baseline, weak, 0.8) is None
    assert outcome_at(baseline, weak, 0.8) is Outcome.NEVER_REACHED
    assert outcome_at(weak, baseline, 0.8) is Outcome.ONLY_ONE
    assert median_cost(weak, 0.8) is None


def test_a_seed_that_breaks_counts_as_infinitely_costly_and_opens_the_interval() -> None:
    broken = made([10, 20], [0.1, math.nan])
    baseline = [learned(1, seed) for seed in range(3)]
    method = [learned(2, 5), learned(2, 6), broken]
    found = speedup_at(baseline, method, 0.8)
    assert found is not None and found.low is None
    assert outcome_at(baseline, method, 0.8) is Outcome.NO_EVIDENCE


def test_a_first_evaluation_that_was_good_enough_bounds_one_side() -> None:
    early, late = [made([10, 20], [0.5, 0.6])], [made([10, 30], [0.1, 0.5])]
    at_least, at_most = speedup_at(late, early, 0.3), speedup_at(early, late, 0.3)
    assert at_least is not None and at_least.sure is Sure.AT_LEAST and at_least.high is None
    assert at_most is not None and at_most.sure is Sure.AT_MOST and at_most.low is None
    assert speedup_at(early, early, 0.3) is None


def test_a_method_against_its_own_seeds_is_claimed_faster_about_as_rarely_as_chance_allows() -> None:
    claims = 0
    for trial in range(60):
        first = [learned(1, 100 * trial + seed) for seed in range(4)]
        second = [learned(1, 100 * trial + 50 + seed) for seed in range(4)]
        claims += outcome_at(first, second, 0.8) is not Outcome.NO_EVIDENCE
    assert claims <= 9


def test_ranges_that_do_not_meet_share_nothing() -> None:
    low, high = [made([1, 2], [0.1, 0.2])], [made([1, 2], [0.5, 0.9])]
    assert shared_range([low, high]) is None and speedup_curve(low, high) is None


@pytest.mark.parametrize("seeds", [3, 4, 6])
def test_the_told_chance_of_a_claim_by_chance_is_true(seeds: int) -> None:
    # GIVEN many pairs of sides whose costs to a quality come from one distribution
    noise = np.random.default_rng(seeds)

    def side() -> list[Curve]:
        return [made([0, float(cost)], [0.0, 1.0]) for cost in noise.lognormal(0, 0.2, seeds)]

    # WHEN each pair is compared THEN about as many are called different as is told
    claims = sum(outcome_at(side(), side(), 1.0) is not Outcome.NO_EVIDENCE for _ in range(400))
    assert abs(claims / 400 - chance_of_claim(seeds)) < 0.045
