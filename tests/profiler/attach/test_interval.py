"""The interval of a share from samples in a row: right about as often as it says, also where samples hang together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.attach.interval import share_interval


@given(st.lists(st.booleans(), max_size=400))
def test_it_holds_the_share_and_stays_within_bounds(hits: list[bool]) -> None:
    low, high = share_interval(np.array(hits, dtype=np.bool_))
    assert 0 <= low <= high <= 1
    if hits:
        assert low <= np.mean(hits) <= high


def test_nothing_seen_tells_nothing_and_a_stage_never_seen_is_still_possible() -> None:
    assert share_interval(np.empty(0, dtype=np.bool_)) == (0.0, 1.0)
    low, high = share_interval(np.zeros(200, dtype=np.bool_))
    assert low == 0 and 0.005 < high < 0.05


@pytest.mark.parametrize("stay", [1, 10], ids=["every sample for itself", "stages of ten samples"])
def test_it_covers_the_truth(stay: int) -> None:
    # GIVEN 300 sequences of 500 samples in which a stage of random length comes back, with a true share of 0.3
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        hits = np.repeat(random.random(500) < 0.3, random.integers(1, 2 * stay, 500))[:500]
        # WHEN its interval is taken THEN that holds the true share in about 95 % of them
        low, high = share_interval(hits)
        covered += low <= 0.3 <= high
    assert covered / 300 >= 0.9


def test_samples_that_hang_together_give_a_wider_interval() -> None:
    scattered = np.tile([True, False, False, False, False], 100)
    clumped = np.sort(scattered.reshape(5, 100), axis=1).ravel()
    narrow, wide = share_interval(scattered), share_interval(clumped)
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])
