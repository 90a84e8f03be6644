"""Questions about columns answer as numpy does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.ingest.column_values import among, distinct, median, quantile, rows_of

WHOLE = st.lists(st.integers(-100, 100), max_size=40).map(lambda values: np.array(values, dtype=np.int64))
NUMBERS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40).map(np.array)


@given(WHOLE)
def test_distinct_values_are_sorted_and_single(values):
    assert distinct(values).tolist() == sorted(set(values.tolist()))


@given(WHOLE, WHOLE)
def test_among_is_membership(values, wanted):
    assert among(values, wanted).tolist() == [value in set(wanted.tolist()) for value in values.tolist()]


@given(st.lists(st.integers(0, 5), max_size=40), st.sets(st.integers(0, 5)))
def test_rows_of_kinds(kinds, wanted):
    rows = rows_of(np.array(kinds, dtype=np.uint8), wanted)
    assert rows.tolist() == [row for row, kind in enumerate(kinds) if kind in wanted]


@given(NUMBERS)
def test_the_median_is_numpys(values):
    assert median(values) == float(np.median(values))


@given(NUMBERS, st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.95, 1.0]))
def test_quantiles_are_numpys(values, share):
    assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)), rel=1e-12, abs=1e-6)
