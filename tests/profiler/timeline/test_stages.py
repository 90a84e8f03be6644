"""Stages: every instant of a step once, so that they sum to the step."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.agent import format as layout
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.timeline.stages import STAGES, stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Stage

CODES = [
    value for name, value in vars(layout).items() if name.isupper() and isinstance(value, int) and value < 30
]
spans = st.lists(
    st.tuples(st.sampled_from(CODES), st.integers(0, 1000), st.integers(0, 300), st.integers(0, 3)).map(
        lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2], drawn[3])
    ),
    max_size=40,
)
bounds = st.lists(st.integers(0, 1200), min_size=2, max_size=10, unique=True).map(sorted)


@given(spans, bounds)
def test_steps_by_stages_sum_to_the_steps(
    make_recording: Callable[..., RankRecording], spans: list[tuple[int, int, int, int]], bounds: list[int]
) -> None:
    steps = [(layout.STEP, low, high, 1) for low, high in itertools.pairwise(bounds)]
    recording = make_recording([*spans, *steps])
    found = find_steps(recording, warmup=1)
    stages = stage_times(recording, found)
    assert stages.seconds.shape == (len(steps), len(STAGES))
    assert stages.seconds.sum(axis=1) == pytest.approx(found.duration_s)
    assert sum(share.share for share in stages.shares(found.timed)) == pytest.approx(1.0)


def test_a_step_is_shared_out_to_its_stages(make_recording: Callable[..., RankRecording]) -> None:
    # GIVEN one step with saving inside the optimizer's span and nothing at its end
    recording = make_recording(
        [
            (layout.STEP, 0, 100, 1),
            (layout.DATA_WAIT, 0, 20, 1),
            (layout.FORWARD, 20, 40, 0),
            (layout.BACKWARD, 40, 70, 0),
            (layout.OPTIMIZER, 70, 90, 1),
            (layout.CHECKPOINT, 75, 80, 0),
        ]
    )
    # WHEN it is laid out
    steps = find_steps(recording, warmup=0)
    ns = {
        stage: round(value * 1e9)
        for stage, value in stage_times(recording, steps).per_step(steps.timed).items()
    }
    # THEN the inner span counts once and the rest is host time
    assert {stage: value for stage, value in ns.items() if value} == {
        Stage.DATA_WAIT: 20,
        Stage.FORWARD: 20,
        Stage.BACKWARD: 30,
        Stage.OPTIMIZER: 15,
        Stage.CHECKPOINT: 5,
        Stage.HOST: 10,
    }


def test_time_between_steps_belongs_to_none(make_recording: Callable[..., RankRecording]) -> None:
    # GIVEN two steps with a gap, in which the deep window was opened, under a span that reaches into the second
    recording = make_recording(
        [(layout.STEP, 0, 100, 1), (layout.STEP, 500, 600, 1), (layout.DATA_WAIT, 100, 520, 1)]
    )
    steps = find_steps(recording, warmup=0)
    stages = stage_times(recording, steps)
    assert np.allclose(stages.seconds.sum(axis=1) * 1e9, [100, 100])
    assert stages.seconds[1, STAGES.index(Stage.DATA_WAIT)] * 1e9 == pytest.approx(20)
