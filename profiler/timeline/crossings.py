"""What crosses between host and device: which line copies or makes the host wait, how often and how many bytes.

The agent counts these calls in one step; what they cost is told by the sampled stacks of the timed steps, in which a
blocking call stays at its line until the device is done.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..agent import crossings as noted
from ..facts import Facts, text, whole
from ..recording import Frame, RankRecording, frames_of
from ..report import Crossing
from ..vocabulary import Call, Stage
from .frames import name_stack
from .stages import STAGES, StageTimes
from .steps import Steps

MAX_LINES = 24
#: Between a fetch and the forward, so large a share of the samples has to lie on copies to call all of it copying.
COPYING_SHARE = 0.8
MIN_SAMPLES = 4
_KINDS = {
    noted.TO_DEVICE: Call.TO_DEVICE,
    noted.TO_HOST: Call.TO_HOST,
    noted.ITEM: Call.ITEM,
    noted.SHAPE: Call.SHAPE,
    noted.MASK: Call.SHAPE,
}
_FUNCTIONS = {"synchronize": Call.SYNCHRONIZE, "empty_cache": Call.EMPTY_CACHE}
_LINES = (
    (Call.SYNCHRONIZE, r"\bsynchronize\("),
    (Call.EMPTY_CACHE, r"\bempty_cache\("),
    (Call.ITEM, r"\.(item|tolist)\("),
    (Call.TO_HOST, r"\.(cpu|numpy)\(|\.to\(\s*(device\s*=\s*)?(torch\.device\(\s*)?[\"']cpu"),
    (Call.TO_DEVICE, r"\.(to|cuda)\(|\bsend_to_device\(|\bnon_blocking\b"),
    (Call.SHAPE, r"\b(nonzero|masked_select|unique|unique_consecutive|argwhere)\("),
)
_PATTERNS = tuple((call, re.compile(pattern)) for call, pattern in _LINES)
#: Where a copy to the device may be; the same words within the model change a type or shape.
_COPYING_STAGES = frozenset(STAGES.index(stage) for stage in (Stage.HOST, Stage.H2D, Stage.EVALUATION))
#: A line that calls nothing but conversions or questions about tensors takes time only where it waits for one.
_CAST = re.compile(r"\b(float|int|bool)\(")
_CONDITION = re.compile(r"^(if|elif|while|assert)\b")
_QUESTION = re.compile(r"\b(any|all|isnan|isinf|isfinite|float|int|bool|max|min|sum|abs)\(")
_CALL = re.compile(r"\w\(")


@dataclass(frozen=True)
class Place:
    """Where a call lies: the line that names it, and whether that is the user's own."""

    call: Call
    frame: Frame
    user_code: bool


def crossings(recording: RankRecording, steps: Steps, stages: StageTimes) -> list[Crossing]:
    """The calls of a step that cross, those that take the host longest first; ``stages`` are the host's.

    Seconds are those that the host spends in the call, waiting too. None where the line was in no sample.
    """
    counted = _counted(recording)
    seconds, samples = _sampled(recording, steps, stages)
    places = _joined(counted, seconds)
    merged: list[Crossing] = []
    for number, one in enumerate(counted):
        place = places.get(number)
        taken = seconds.pop(place) if place is not None else None
        seen = samples.get(place, 0) if place is not None else 0
        merged.append(one.model_copy(update={"seconds_per_step": taken, "samples": seen}))
    merged += [
        Crossing(
            call=place.call,
            file=place.frame.file,
            line=place.frame.line,
            function=place.frame.function,
            user_code=place.user_code,
            seconds_per_step=taken,
            samples=samples[place],
        )
        for place, taken in seconds.items()
    ]
    return sorted(merged, key=lambda one: (-(one.seconds_per_step or 0.0), -(one.bytes_per_step or 0)))[
        :MAX_LINES
    ]


def _joined(counted: Sequence[Crossing], sampled: Iterable[Place]) -> dict[int, Place]:
    """Which sampled place is which counted call: the same sort on its line first, else what is left on the line."""
    free, found = list(sampled), dict[int, Place]()
    for is_exact in (True, False):
        for number, one in enumerate(counted):
            place = next(
                (at for at in free if _is_at(at, one) and (not is_exact or at.call is one.call)), None
            )
            if number not in found and place is not None:
                found[number] = place
                free.remove(place)
    return found


def _is_at(place: Place, one: Crossing) -> bool:
    return (place.frame.file, place.frame.line) == (one.file, one.line)


def _counted(recording: RankRecording) -> list[Crossing]:
    """The calls of the counted step, those of one line and sort together."""
    facts = recording.facts.get("crossings", [])
    told = facts[-1].get("calls") if facts else None
    found: dict[tuple[object, ...], Crossing] = {}
    for call in told if isinstance(told, list) else []:
        one = _crossing(call, recording.process) if isinstance(call, dict) else None
        if one is None:
            continue
        key = (one.call, one.file, one.line, one.pinned, one.non_blocking)
        known = found.get(key)
        found[key] = one if known is None else _added(known, one)
    return list(found.values())


def _crossing(call: Facts, process: Mapping[str, object]) -> Crossing | None:
    kind = _KINDS.get(str(text(call, "kind")))
    named = name_stack(frames_of(call.get("frames")), process)
    if kind is None or named is None:
        return None
    frame, user_code = named
    return Crossing(
        call=kind,
        file=frame.file,
        line=frame.line,
        function=frame.function,
        user_code=user_code,
        calls_per_step=max(whole(call, "count") or 1, 1),
        bytes_per_step=max(whole(call, "bytes") or 0, 0),
        pinned=_flag(call, "pinned"),
        non_blocking=_flag(call, "non_blocking"),
    )


def _flag(call: Facts, name: str) -> bool | None:
    value = call.get(name)
    return value if isinstance(value, bool) else None


def _added(one: Crossing, other: Crossing) -> Crossing:
    return one.model_copy(
        update={
            "calls_per_step": (one.calls_per_step or 0) + (other.calls_per_step or 0),
            "bytes_per_step": (one.bytes_per_step or 0) + (other.bytes_per_step or 0),
        }
    )


def _sampled(
    recording: RankRecording, steps: Steps, stages: StageTimes
) -> tuple[dict[Place, float], Counter[Place]]:
    """Seconds per step and samples of each call: a stage's exact seconds, shared out by samples."""
    inside, labels = _timed_samples(recording, steps, stages)
    places = {number: call_of(frames, recording.process) for number, frames in recording.stacks.items()}
    of_stage = Counter(labels.tolist())
    per_step = stages.per_step(steps.timed)
    seconds: dict[Place, float] = {}
    samples: Counter[Place] = Counter()
    for stack, label in zip(inside[:, 1].tolist(), labels.tolist(), strict=True):
        place = places.get(stack)
        if place is not None and (place.call is not Call.TO_DEVICE or label in _COPYING_STAGES):
            samples[place] += 1
            seconds[place] = seconds.get(place, 0.0) + per_step[STAGES[label]] / of_stage[label]
    return {place: taken for place, taken in seconds.items() if samples[place] >= MIN_SAMPLES}, samples


def _timed_samples(
    recording: RankRecording, steps: Steps, stages: StageTimes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The samples of timed steps, and the stage of each."""
    times = recording.samples[:, 0]
    if not len(steps) or not len(times):
        return recording.samples[:0], np.empty(0, np.int64)
    labels = stages.segments.label_at(times)
    inside = steps.timed_at(times) & (labels >= 0)
    return recording.samples[inside], labels[inside]


def call_of(frames: Sequence[Frame], process: Mapping[str, object]) -> Place | None:
    """The crossing call that a sampled stack stands in; None for anything else.

    What runs in C shows as the line that called it, so the innermost line tells.
    """
    agent = str(process.get("agent") or "\0")
    inner = next((frame for frame in frames if not frame.file.startswith(agent)), None)
    named = name_stack(frames, process)
    if inner is None or named is None:
        return None
    is_scripts_line = named == (inner, True)
    call = _of_function(inner) or _of_line(inner.text or "", is_scripts=is_scripts_line)
    return None if call is None else Place(call, *named)


def _of_function(frame: Frame) -> Call | None:
    is_torchs = "/torch/cuda/" in frame.file.replace("\\", "/")
    return _FUNCTIONS.get(frame.function.rpartition(".")[2]) if is_torchs else None


def _of_line(line: str, *, is_scripts: bool) -> Call | None:
    """What a line waits for; a library's conditions are mostly on no tensor, only the script's own count."""
    call = next((call for call, pattern in _PATTERNS if pattern.search(line)), None)
    if call is not None or not is_scripts or _CALL.search(_QUESTION.sub("", line)):
        return call
    if _CONDITION.match(line):
        return Call.CONDITION
    return Call.ITEM if _CAST.search(line) else None


def with_copies(recording: RankRecording, steps: Steps, stages: StageTimes) -> StageTimes:
    """The stages with host time after a fetch called copying, where the samples in it say that it is."""
    after_fetch = _host_after_fetch(stages)
    inside, _ = _timed_samples(recording, steps, stages)
    piece = np.searchsorted(stages.segments.bounds_ns, inside[:, 0], side="right") - 1
    chosen = inside[after_fetch[piece]] if len(inside) else inside
    places = {number: call_of(frames, recording.process) for number, frames in recording.stacks.items()}
    copies = [
        place is not None and place.call is Call.TO_DEVICE for place in map(places.get, chosen[:, 1].tolist())
    ]
    if len(copies) < MIN_SAMPLES or sum(copies) < COPYING_SHARE * len(copies):
        return stages
    return stages.relabelled(after_fetch, Stage.H2D, steps)


def _host_after_fetch(stages: StageTimes) -> NDArray[np.bool_]:
    """Pieces of host time that follow a fetch, shape of the labels."""
    labels = stages.segments.labels
    before = np.concatenate([[-1], labels[:-1]])
    return (labels == STAGES.index(Stage.HOST)) & (before == STAGES.index(Stage.DATA_WAIT))
