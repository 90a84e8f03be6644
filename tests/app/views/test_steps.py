"""Steps laid out for a chart: no time is lost, what is left out of the timing is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainrx.app.views.steps import MAX_BARS, MAX_MARKS, Span, step_series
from trainrx.profiler.vocabulary import Stage


def test_few_steps_are_one_bar_each(samples: Any) -> None:
    series = step_series(samples.step_table())
    assert series.step == tuple(range(9))
    assert series.timed == (False, False, *[True] * 6, False)
    assert series.spans == (Span(0, 1, "warm-up"), Span(8, 8, "traced"))
    assert series.median_ms == pytest.approx(100)
    assert [stage for stage, _ in series.stages_ms] == [
        Stage.DATA_WAIT, Stage.FORWARD, Stage.BACKWARD, Stage.HOST,
    ]  # fmt: skip
    assert series.caption == "9 steps, 6 of them timed; shaded steps are left out of the timing."


def test_an_outlier_is_marked_with_what_it_took(samples: Any) -> None:
    series = step_series(samples.step_table(n=40, outliers=(20,)))
    assert [(mark.step, mark.text) for mark in series.marks] == [
        (20, "step 20: 900.0 ms, 9.00× the median (outlier)")
    ]
    assert "1 outlier" in series.caption


def test_a_slow_first_step_is_cut_off_and_said(samples: Any) -> None:
    series = step_series(samples.step_table(n=40, outliers=(0,)))
    assert series.axis_ms < 900
    assert [mark.text for mark in series.marks] == ["first step: 900.0 ms, 9.00× the median (warm-up)"]


def test_without_a_timed_step_there_is_no_median(samples: Any) -> None:
    series = step_series(samples.step_table(n=2, warmup=2, traced=0))
    assert series.median_ms is None
    assert series.axis_ms > 100


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(min_value=3, max_value=2500),
    slow=st.sets(st.integers(min_value=0, max_value=2499), max_size=60),
)
def test_bars_keep_all_time(samples: Any, n: int, slow: set[int]) -> None:
    table = samples.step_table(n=n, outliers=tuple(sorted(step for step in slow if step < n)))
    series = step_series(table)
    sizes = [min(series.steps_per_bar, n - first) for first in series.step]
    shown_ms = sum(
        value * size for _, values in series.stages_ms for value, size in zip(values, sizes, strict=True)
    )
    assert len(series.step) <= MAX_BARS
    assert sum(sizes) == n
    assert shown_ms == pytest.approx(table["duration_s"].sum() * 1e3)
    assert len(series.marks) <= MAX_MARKS
    left_out = {step for span in series.spans for step in range(span.first, span.last + 1)}
    assert left_out == set(table["step"][table["phase"] != "timed"])
