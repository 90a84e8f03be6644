"""Names time by the line of Python that the training thread was in, from its sampled stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..agent import format as layout
from ..recording import Frame, RankRecording
from ..report import HostLine
from ..vocabulary import Activity, Stage
from .activities import activity_of
from .frames import name_stack
from .intervals import contains, union
from .stages import STAGES, StageTimes
from .steps import Steps

MAX_LINES_PER_STAGE = 12
_Place = tuple[Stage, Frame, bool, "Activity | None"]


def host_lines(recording: RankRecording, steps: Steps, stages: StageTimes) -> list[HostLine]:
    """The lines that the timed steps spent their time in, per stage, longest first.

    A stage's exact seconds are shared out over its lines by their number of samples, so the lines of a stage sum to it;
    a line with few samples is uncertain, therefore ``samples`` is given. What a line did beside training is a line of
    its own.
    """
    counts = _samples_by_line(recording, steps, stages)
    per_step = stages.per_step(steps.timed)
    step_s = sum(per_step.values())
    if step_s <= 0:
        return []
    seen: Counter[Stage] = Counter()
    for (stage, *_), samples in counts.items():
        seen[stage] += samples
    lines = [
        HostLine(
            file=frame.file,
            line=frame.line,
            function=frame.function,
            stage=stage,
            seconds_per_step=per_step[stage] * samples / seen[stage],
            share=per_step[stage] * samples / seen[stage] / step_s,
            samples=samples,
            user_code=user_code,
            activity=activity,
        )
        for (stage, frame, user_code, activity), samples in counts.items()
    ]
    lines.sort(key=lambda line: -line.seconds_per_step)
    kept: Counter[Stage] = Counter()
    top: list[HostLine] = []
    for line in lines:
        kept[line.stage] += 1
        if kept[line.stage] <= MAX_LINES_PER_STAGE:
            top.append(line)
    return top


def _samples_by_line(recording: RankRecording, steps: Steps, stages: StageTimes) -> Counter[_Place]:
    counts: Counter[_Place] = Counter()
    if not len(recording.samples) or not steps.timed.any():
        return counts
    times, stacks = recording.samples[:, 0], recording.samples[:, 1]
    inside = steps.timed_at(times)
    labels = stages.segments.label_at(times)
    places = {number: _named(frames, recording.process) for number, frames in recording.stacks.items()}
    compiled = recording.of_code(layout.COMPILATION)
    compiling = contains(union(compiled[:, 1], compiled[:, 2]), times)
    for label, stack, compiles in zip(
        labels[inside].tolist(), stacks[inside].tolist(), compiling[inside].tolist(), strict=True
    ):
        place = places.get(stack)
        if label >= 0 and place is not None:
            frame, user_code, activity = place
            stage = STAGES[label]
            if activity is Activity.LOADING and stage is not Stage.HOST:
                activity = None  # within another stage, such as the wait for a loader, it is that stage's own
            counts[(stage, frame, user_code, Activity.COMPILING if compiles else activity)] += 1
    return counts


def _named(
    frames: Sequence[Frame], process: Mapping[str, object]
) -> tuple[Frame, bool, Activity | None] | None:
    named = name_stack(frames, process)
    return None if named is None else (*named, activity_of(frames, named[0]))
