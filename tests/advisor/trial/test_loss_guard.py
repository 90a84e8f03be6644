"""Losses of both sides, compared by what the change promises."""

import math

import pytest

from trainrx.advisor.trial.loss_guard import LossOutcome, check_losses

BASE = {0: tuple((step, 1.0 / (step + 1)) for step in range(20))}


def changed(change):
    return {0: tuple((step, change(step, value)) for step, value in BASE[0])}


def check(second, *, first=(BASE, BASE), equivalence="exact", tolerance=1e-3, **more):
    return check_losses(first, [second, second], equivalence=equivalence, tolerance=tolerance, **more)


def test_equal_losses_of_an_exact_change():
    found = check(BASE)
    assert str(found) == "equal: all 20 losses are bitwise equal"
    assert found.allows_keeping


def test_one_bit_is_a_difference_for_an_exact_change():
    # GIVEN one loss that differs in its last bit
    found = check(changed(lambda step, value: math.nextafter(value, 2) if step == 7 else value))

    # THEN that step is named
    assert found.outcome is LossOutcome.DIFFER
    assert "loss 8 of 20" in found.text
    assert not found.allows_keeping


@pytest.mark.parametrize(
    ("off", "outcome"), [(1e-5, LossOutcome.WITHIN_TOLERANCE), (1e-2, LossOutcome.DIFFER)]
)
def test_numerical_changes_have_a_tolerance(off, outcome):
    found = check(changed(lambda step, value: value * (1 + off)), equivalence="numerical")
    assert found.outcome is outcome


def test_rounding_that_grows_over_hundreds_of_steps_is_not_held_against_a_numerical_change():
    # GIVEN losses that part after the first steps, as two roundings of one training do
    base = {0: tuple((step, 1.0) for step in range(400))}
    apart = {0: tuple((step, 1.0 if step < 50 else 1.5) for step in range(400))}

    # WHEN they are compared THEN the first steps count, and for an exact change all of them
    found = check_losses([base], [apart], equivalence="numerical", tolerance=1e-3)
    assert found.outcome is LossOutcome.WITHIN_TOLERANCE and found.text.startswith("40 losses")
    assert check_losses([base], [apart], equivalence="exact", tolerance=0).outcome is LossOutcome.DIFFER


@pytest.mark.parametrize("equivalence", ["exact", "numerical"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_losses_that_are_not_finite(equivalence, value):
    found = check(
        changed(lambda step, loss: value), equivalence=equivalence, tolerance=10.0, moves_randomness=True
    )
    assert found.outcome is LossOutcome.DIFFER


def test_a_script_without_seed_is_said_to_be_so():
    # GIVEN unchanged runs that differ already
    other = changed(lambda step, value: value * (1 + 0.01 * math.sin(step)))

    # THEN losses are not compared one by one, only grossly
    found = check(BASE, first=(BASE, other))
    assert found.outcome is LossOutcome.SAME_MEAN
    assert "not deterministic" in found.text
    assert check(changed(lambda step, value: 50.0), first=(BASE, other)).outcome is LossOutcome.DIFFER


def test_a_change_that_moves_random_numbers_is_compared_by_means():
    other = changed(lambda step, value: value * (1 + 0.01 * math.sin(step)))
    assert check(other).outcome is LossOutcome.DIFFER
    assert check(other, moves_randomness=True).outcome is LossOutcome.SAME_MEAN


def test_semantic_changes_are_not_judged_by_losses():
    found = check(BASE, equivalence="semantic")
    assert found.outcome is LossOutcome.NOT_COMPARABLE
    assert "trainrx compare" in found.text


def test_no_backward_was_seen():
    assert check({0: ()}).outcome is LossOutcome.NOT_COMPARABLE
    assert check({}).outcome is LossOutcome.NOT_COMPARABLE


def test_every_rank_counts():
    # GIVEN two ranks of which the second differs
    base = {0: BASE[0], 1: BASE[0]}
    other = {0: BASE[0], 1: changed(lambda step, value: value + 1)[0]}
    assert check(other, first=(base, base)).outcome is LossOutcome.DIFFER


def test_runs_that_settle_at_levels_of_their_own_are_told_apart_by_no_more_than_that():
    # GIVEN a script without a seed, each run of which stays near a level that its first weights give
    def at(level):
        return {0: tuple((step, level + 0.01 * math.sin(step)) for step in range(35))}

    base, similar = (at(2.0), at(2.3), at(2.6)), (at(2.5), at(2.6), at(2.7))
    found = check_losses(base, similar, equivalence="exact", tolerance=0.0)
    assert found.outcome is LossOutcome.SAME_MEAN
    # AND a change that leaves those levels altogether is seen
    found = check_losses(base, (at(9.0), at(9.1), at(9.2)), equivalence="exact", tolerance=0.0)
    assert found.outcome is LossOutcome.DIFFER
