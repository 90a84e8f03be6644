"""Time named by file and line, from sampled stacks."""

from collections.abc import Callable

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.recording import Frame, RankRecording
from trainrx.profiler.timeline.frames import innermost_user_frame
from trainrx.profiler.timeline.host import host_lines
from trainrx.profiler.timeline.stages import stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Stage

USER = Frame("/home/me/train.py", 12, "train")
TORCH = Frame("/env/lib/python3.11/site-packages/torch/nn/modules/module.py", 1, "_call_impl")
STDLIB = Frame("/usr/lib/python3.11/json/__init__.py", 1, "dumps")
AGENT = Frame("/env/trainrx/profiler/agent/hooks/loader.py", 1, "__next__")
PROCESS = [{"agent": "/env/trainrx/profiler/agent", "library": "/usr/lib/python3.11"}]


@pytest.mark.parametrize(
    ("stack", "named"),
    [
        ((AGENT, USER), USER),
        ((TORCH, AGENT, USER, STDLIB), USER),
        ((STDLIB, USER), USER),
        ((AGENT, STDLIB), STDLIB),
        ((AGENT,), None),
        ((), None),
    ],
)
def test_a_stack_is_named_by_its_innermost_user_frame(
    make_recording: Callable[..., RankRecording], stack: tuple[Frame, ...], named: Frame | None
) -> None:
    recording = make_recording([], stacks={0: stack}, facts={"process": PROCESS})
    assert innermost_user_frame(recording.stacks.get(0, ()), recording.process) == named


def test_lines_of_a_stage_sum_to_the_stage(make_recording: Callable[..., RankRecording]) -> None:
    # GIVEN two steps, half waiting for data, with samples on two lines of host code and one in the wait
    other = Frame("/home/me/train.py", 40, "log")
    spans = [
        (layout.STEP, 0, 100, 1), (layout.STEP, 100, 200, 1),
        (layout.DATA_WAIT, 0, 50, 1), (layout.DATA_WAIT, 100, 150, 1),
    ]  # fmt: skip
    recording = make_recording(
        spans,
        samples=[(110, 0), (160, 0), (170, 1), (180, 1), (190, 1), (999, 0)],
        stacks={0: (USER,), 1: (other,)},
        facts={"process": PROCESS},
    )
    steps = find_steps(recording, warmup=1)
    # WHEN time is named
    lines = host_lines(recording, steps, stage_times(recording, steps))
    # THEN host time is split three to one, and a sample outside all steps counts nowhere
    host = {line.line: line for line in lines if line.stage is Stage.HOST}
    assert host[40].seconds_per_step * 1e9 == pytest.approx(37.5)
    assert host[12].seconds_per_step * 1e9 == pytest.approx(12.5)
    assert sum(line.share for line in lines) == pytest.approx(1.0)
    assert sum(line.samples for line in lines) == 5


def test_no_samples_name_no_line(make_recording: Callable[..., RankRecording]) -> None:
    recording = make_recording([(layout.STEP, 0, 100, 1)])
    steps = find_steps(recording, warmup=0)
    assert host_lines(recording, steps, stage_times(recording, steps)) == []
