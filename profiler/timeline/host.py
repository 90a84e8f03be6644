"""Names time by the line of Python that the training thread was in, from its sampled stacks."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..recording import Frame, RankRecording
from ..report import HostLine
from ..vocabulary import Stage
from .frames import name_stack
from .stages import STAGES, StageTimes
from .steps import Steps

MAX_LINES_PER_STAGE = 12


def host_lines(recording: RankRecording, steps: Steps, stages: StageTimes) -> list[HostLine]:
    """The lines that the timed steps spent their time in, per stage, longest first.

    A stage's exact seconds are shared out over its lines by their number of samples, so the lines of a stage sum to it;
    a line with few samples is uncertain, therefore ``samples`` is given.
    """
    counts = _samples_by_line(recording, steps, stages)
    per_step = stages.per_step(steps.timed)
    step_s = sum(per_step.values())
    if step_s <= 0:
        return []
    seen: Counter[Stage] = Counter()
    for (stage, _, _), samples in counts.items():
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
        )
        for (stage, frame, user_code), samples in counts.items()
    ]
    lines.sort(key=lambda line: -line.seconds_per_step)
    kept: Counter[Stage] = Counter()
    top: list[HostLine] = []
    for line in lines:
        kept[line.stage] += 1
        if kept[line.stage] <= MAX_LINES_PER_STAGE:
            top.append(line)
    return top


def _samples_by_line(
    recording: RankRecording, steps: Steps, stages: StageTimes
) -> Counter[tuple[Stage, Frame, bool]]:
    counts: Counter[tuple[Stage, Frame, bool]] = Counter()
    if not len(recording.samples) or not steps.timed.any():
        return counts
    times, stacks = recording.samples[:, 0], recording.samples[:, 1]
    step = np.searchsorted(steps.start_ns, times, side="right") - 1
    inside = (step >= 0) & (times < steps.end_ns[np.clip(step, 0, None)])
    inside &= steps.timed[np.clip(step, 0, None)]
    labels = stages.segments.label_at(times)
    places = {number: name_stack(frames, recording.process) for number, frames in recording.stacks.items()}
    for label, stack in zip(labels[inside].tolist(), stacks[inside].tolist(), strict=True):
        place = places.get(stack)
        if label >= 0 and place is not None:
            counts[(STAGES[label], *place)] += 1
    return counts
