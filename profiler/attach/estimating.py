"""From the sampled main threads of a process tree to shares: the training process's stages, lines, and its workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..pyspy import MainThread, Stack
from ..recording import Frame
from ..report import EstimatedLine, EstimatedShare, EstimatedWorker
from ..vocabulary import Stage
from .interval import share_interval
from .stack_stage import TRAINING, is_library, marked_stage, plain_name, stage_of

MAX_LINES_PER_STAGE = 8
_WORKER_FILE = "torch/utils/data/_utils/worker.py"
_FETCH_FILE = "torch/utils/data/_utils/fetch.py"


@dataclass(frozen=True)
class Tree:
    """The processes of a job, told apart by what their main threads do.

    Attributes:
        training: those that train, by the number of samples that showed it, the process asked for first.
        workers: loader workers.
    """

    training: tuple[MainThread, ...]
    workers: tuple[MainThread, ...]


def sort_out(threads: Sequence[MainThread], pid: int) -> Tree:
    """Tell the training processes and loader workers of a tree apart.

    A function that makes batches by hand may serve something else: it makes no process one that trains.
    """
    workers = tuple(thread for thread in threads if any(is_worker(stack) for stack in thread.stacks))
    others = [thread for thread in threads if thread not in workers]
    training = [
        thread for thread in others if any(marked_stage(stack) in TRAINING for stack in thread.stacks)
    ]
    return Tree(tuple(sorted(training, key=lambda thread: (thread.pid != pid, thread.pid))), workers)


def is_worker(stack: Stack) -> bool:
    """Whether a stack is that of a ``DataLoader`` worker; one that is forked has its parent's frames outside."""
    return any(frame.file.endswith(_WORKER_FILE) and plain_name(frame) == "_worker_loop" for frame in stack)


def is_making_batch(stack: Stack) -> bool:
    """Whether the process is making a batch, in a worker or by itself."""
    return any(frame.file.endswith(_FETCH_FILE) and plain_name(frame) == "fetch" for frame in stack)


def stage_shares(stacks: Sequence[Stack]) -> list[EstimatedShare]:
    """The stages seen, in the order of `Stage`; shares sum to 1."""
    labels = [stage_of(stack) for stack in stacks]
    shares: list[EstimatedShare] = []
    for stage in Stage:
        hits = np.array([label is stage for label in labels], dtype=np.bool_)
        if hits.any():
            low, high = share_interval(hits)
            shares.append(
                EstimatedShare(
                    name=stage, share=float(hits.mean()), low=low, high=high, samples=int(hits.sum())
                )
            )
    return shares


def stage_lines(stacks: Sequence[Stack]) -> list[EstimatedLine]:
    """The lines that the training thread was seen in, most samples first, a few for each stage."""
    counts = Counter(
        (stage_of(stack), *place) for stack in stacks if (place := innermost_own(stack)) is not None
    )
    kept: Counter[Stage] = Counter()
    lines: list[EstimatedLine] = []
    for (stage, frame, user_code), samples in counts.most_common():
        kept[stage] += 1
        if kept[stage] <= MAX_LINES_PER_STAGE:
            lines.append(_line(frame, stage, samples, len(stacks), user_code))
    return lines


def innermost_own(stack: Stack) -> tuple[Frame, bool] | None:
    """The innermost frame of the user's own code and True; else the innermost of all and False."""
    own = next((frame for frame in stack if not is_library(frame)), None)
    if own is not None:
        return own, True
    return (stack[0], False) if stack else None


def worker_estimates(workers: Sequence[MainThread], cpu_share: Mapping[int, float]) -> list[EstimatedWorker]:
    """How busy each loader worker was; one that lived for a moment only tells nothing and is left out."""
    return [
        EstimatedWorker(
            pid=worker.pid,
            samples=len(worker.stacks),
            busy_share=sum(map(is_making_batch, worker.stacks)) / len(worker.stacks),
            cpu_share=cpu_share.get(worker.pid),
        )
        for worker in workers
        if len(worker.stacks) >= 5
    ]


def loading_lines(threads: Sequence[MainThread]) -> list[EstimatedLine]:
    """The lines that batches were made in, in all workers together or in a process that loads by itself."""
    stacks = [stack for thread in threads for stack in thread.stacks if is_making_batch(stack)]
    places = (innermost_loading(stack) for stack in stacks)
    counts = Counter(place for place in places if place is not None)
    return [
        _line(frame, Stage.DATA_WAIT, samples, len(stacks), True) for frame, samples in counts.most_common(3)
    ]


def innermost_loading(stack: Stack) -> Frame | None:
    """The innermost frame of the user's own code within the making of a batch; None where there is none."""
    for frame in stack:
        if frame.file.endswith(_FETCH_FILE):
            return None
        if not is_library(frame):
            return frame
    return None


def loads_by_itself(stacks: Sequence[Stack]) -> bool:
    """Whether the training process was seen making a batch."""
    return any(is_making_batch(stack) for stack in stacks)


def _line(frame: Frame, stage: Stage, samples: int, of: int, user_code: bool) -> EstimatedLine:
    return EstimatedLine(
        file=frame.file,
        line=frame.line,
        function=frame.function,
        stage=stage,
        share=samples / of,
        samples=samples,
        user_code=user_code,
    )
