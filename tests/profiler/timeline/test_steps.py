"""Which steps count for the timing, and which stand out."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.agent.format import STEP, STEP_TRACED
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.timeline.steps import MIN_TIMED_STEPS, Steps, find_steps

MS = 1_000_000


def steps_of(
    make: Callable[..., RankRecording], durations_ms: list[int], *, warmup: int, traced: int = 0
) -> Steps:
    spans, at = [], 1000
    for number, duration in enumerate(durations_ms):
        code = STEP_TRACED if number >= len(durations_ms) - traced else STEP
        spans.append((code, at, at + duration * MS, 1))
        at += duration * MS
    return find_steps(make(spans), warmup=warmup)


@pytest.mark.parametrize(
    ("steps", "warmup", "left_out"),
    [
        (0, 5, 0),
        (1, 5, 0),
        (2, 5, 1),
        (3, 5, 1),
        (4, 5, 1),
        (5, 5, 2),
        (7, 5, 4),
        (8, 5, 5),
        (50, 5, 5),
        (9, 0, 0),
    ],
)
def test_warm_up_gives_way_where_steps_are_few(
    make_recording: Callable[..., RankRecording], steps: int, warmup: int, left_out: int
) -> None:
    found = steps_of(make_recording, [10] * steps, warmup=warmup)
    assert found.warmup.sum() == left_out
    assert found.timed.sum() == steps - left_out


@given(st.integers(0, 60), st.integers(0, 20), st.integers(0, 5))
def test_every_step_is_warm_up_timed_or_traced(
    make_recording: Callable[..., RankRecording], steps: int, warmup: int, traced: int
) -> None:
    traced = min(traced, steps)
    found = steps_of(make_recording, [10] * steps, warmup=warmup, traced=traced)
    assert found.traced.sum() == traced
    assert (found.warmup.astype(int) + found.timed + found.traced == 1).all()
    assert found.warmup.sum() <= warmup
    assert found.timed.sum() >= min(MIN_TIMED_STEPS - 1, steps - traced - 1)


def test_traced_and_warm_up_steps_do_not_touch_the_step_time(
    make_recording: Callable[..., RankRecording],
) -> None:
    found = steps_of(make_recording, [900, 10, 10, 10, 10, 700, 700], warmup=1, traced=2)
    time = found.step_time()
    assert time is not None
    assert (time.n, time.p50_s, time.mean_s) == (4, 0.010, 0.010)


def test_a_step_far_above_the_median_is_an_outlier(make_recording: Callable[..., RankRecording]) -> None:
    found = steps_of(make_recording, [500, 10, 11, 10, 9, 40, 10, 12], warmup=1)
    assert found.outlier.tolist() == [False] * 5 + [True] + [False] * 2


def test_without_a_timed_step_there_is_no_step_time(make_recording: Callable[..., RankRecording]) -> None:
    assert steps_of(make_recording, [], warmup=5).step_time() is None


@given(st.integers(0, 12), st.integers(0, 3), st.integers(0, 2), st.lists(st.integers(-5, 200), max_size=30))
def test_a_moment_is_timed_where_a_timed_step_spans_it(
    make_recording: Callable[..., RankRecording], steps: int, warmup: int, traced: int, moments: list[int]
) -> None:
    # GIVEN steps of 10 with gaps of 5 between them, as a long run has where only a summary was kept
    codes = [STEP] * (steps - min(traced, steps)) + [STEP_TRACED] * min(traced, steps)
    found = find_steps(
        make_recording([(code, 15 * n, 15 * n + 10, 1) for n, code in enumerate(codes)]), warmup=warmup
    )
    expected = [
        any(15 * n <= moment < 15 * n + 10 and found.timed[n] for n in range(steps)) for moment in moments
    ]
    assert found.timed_at(np.array(moments, dtype=np.int64)).tolist() == expected
