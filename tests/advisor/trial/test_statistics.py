"""From pairs to a verdict, on simulated timings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.advisor.trial import statistics
from trainrx.advisor.trial.statistics import (
    PRACTICAL_RATIO,
    Interval,
    Verdict,
    interval,
    is_settled,
    stalled_pairs,
    verdict,
)

RATIOS = st.lists(st.floats(0.2, 5.0), min_size=3, max_size=12)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 200)


@given(RATIOS)
def test_the_interval_holds_the_median(ratios):
    result = interval(ratios)
    assert result.low <= result.median * (1 + 1e-12) and result.median <= result.high * (1 + 1e-12)
    assert result.median == pytest.approx(float(np.exp(np.median(np.log(ratios)))))


@given(RATIOS)
def test_swapping_the_sides_turns_the_verdict(ratios):
    # GIVEN a measurement and the same one with its sides swapped
    forward, backward = interval(ratios), interval([1 / ratio for ratio in ratios])

    # THEN one says better where the other says worse (resampling may differ in the last places only)
    turned = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    margin = min(
        abs(np.log(forward.low) - np.log(PRACTICAL_RATIO)),
        abs(np.log(forward.high) + np.log(PRACTICAL_RATIO)),
    )
    if margin > 0.05:
        assert verdict(backward) is turned.get(verdict(forward), Verdict.NO_EVIDENCE)


@given(st.floats(1.0, PRACTICAL_RATIO), st.integers(3, 10))
def test_a_gain_below_the_practical_one_is_no_evidence(ratio, pairs):
    assert verdict(interval([ratio] * pairs)) is Verdict.NO_EVIDENCE


def test_three_pairs_are_not_trusted_as_if_they_were_many():
    # GIVEN three pairs that all look faster, but not equally
    result = interval([1.05, 1.3, 1.12])

    # THEN the interval reaches beyond what was seen, and nothing is claimed
    assert result.low < 1.05
    assert verdict(result) is Verdict.NO_EVIDENCE
    assert not is_settled(result)


def test_too_few_pairs():
    with pytest.raises(ValueError, match="2 pairs are too few"):
        interval([1.0, 1.1])


def test_settled_by_width_or_by_clear_effect():
    assert is_settled(Interval(1.0, 0.98, 1.02))
    assert is_settled(Interval(3.0, 2.4, 3.6))
    assert not is_settled(Interval(1.1, 1.0, 1.2))


def simulate(generator, *, noise, stall, gain, most_pairs=10):
    """Measure as `measure` does, on drawn times."""
    base, changed = [], []
    while True:
        drawn = np.exp(generator.normal(0, noise, 2)) * np.where(generator.random(2) < stall, 2.0, 1.0)
        base.append(drawn[0])
        changed.append(drawn[1] / gain)
        if len(base) < 3:
            continue
        left_out = stalled_pairs(base, changed)
        result = interval([b / c for n, (b, c) in enumerate(zip(base, changed)) if n not in left_out])
        if is_settled(result) or len(base) >= most_pairs:
            return verdict(result)


@pytest.mark.parametrize(("noise", "stall"), [(0.01, 0.0), (0.05, 0.1), (0.15, 0.1)])
def test_the_same_on_both_sides_gives_no_evidence(noise, stall):
    # WHEN the same is measured against itself many times, on quiet and on noisy machines
    generator = np.random.default_rng(7)
    verdicts = [simulate(generator, noise=noise, stall=stall, gain=1.0) for _ in range(120)]

    # THEN at least 95 % of the trials claim nothing
    assert verdicts.count(Verdict.NO_EVIDENCE) >= 0.95 * len(verdicts)


@pytest.mark.parametrize("gain", [1.25, 1 / 1.25])
def test_a_real_effect_is_found(gain):
    generator = np.random.default_rng(3)
    verdicts = [simulate(generator, noise=0.04, stall=0.02, gain=gain) for _ in range(40)]
    assert verdicts.count(Verdict.BETTER if gain > 1 else Verdict.WORSE) >= 36


def test_a_stalled_pair_is_found_by_its_own_kind():
    # GIVEN one stalled arm among five pairs
    base, changed = [1.0, 1.02, 2.5, 0.99, 1.01], [0.5, 0.51, 0.5, 0.49, 0.5]
    assert stalled_pairs(base, changed) == (2,)

    # THEN a change that is slower as a whole is no stall
    assert stalled_pairs([1.0] * 5, [3.0, 3.1, 2.9, 3.0, 3.05]) == ()


def test_where_stalling_is_the_rule_nothing_is_left_out():
    assert stalled_pairs([1.0, 1.01, 3.0, 0.99, 4.0], [1.0] * 5) == ()
