"""Tells the stage of training from one sampled stack of the main thread, by torch's own well-known frames.

It follows the recorder: the innermost mark decides, save that a forward inside a backward pass, an evaluation or the
making of a batch is part of that. Builtin calls leave no frame; a copy to the device is told by the source line it is
called from.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .. import agent
from ..recording import Frame
from ..timeline.activities import makes_batches
from ..vocabulary import Stage

_COPY = re.compile(r"\.(?:cuda\(|to\([^)]*(?:device|cuda|non_blocking))")
#: The stages that a mark may not replace, because it is part of their work.
_KEEPS: dict[Stage, frozenset[Stage]] = {
    Stage.BACKWARD: frozenset({Stage.FORWARD, Stage.H2D}),
    Stage.DATA_WAIT: frozenset({Stage.FORWARD, Stage.H2D, Stage.EVALUATION, Stage.COMMUNICATION}),
    Stage.CHECKPOINT: frozenset({Stage.FORWARD, Stage.H2D, Stage.COMMUNICATION}),
    Stage.EVALUATION: frozenset({Stage.FORWARD, Stage.H2D, Stage.DATA_WAIT, Stage.COMMUNICATION}),
}


@dataclass(frozen=True)
class _Mark:
    """Frames of a file that mean a stage: all functions of it, or the named ones."""

    file: str
    stage: Stage
    functions: frozenset[str] = frozenset()


def _mark(stage: Stage, file: str, *functions: str) -> _Mark:
    return _Mark(file, stage, frozenset(functions))


_MARKS = (
    _mark(Stage.DATA_WAIT, "torch/utils/data/dataloader.py", "__next__", "__iter__"),
    _mark(Stage.BACKWARD, "torch/autograd/__init__.py", "backward", "grad"),
    _mark(Stage.BACKWARD, "torch/autograd/graph.py", "_engine_run_backward"),
    _mark(Stage.OPTIMIZER, "torch/optim/optimizer.py", "wrapper", "zero_grad"),
    _mark(Stage.FORWARD, "torch/nn/modules/module.py", "_wrapped_call_impl", "_call_impl", "__call__"),
    _mark(Stage.FORWARD, "torch/_dynamo/eval_frame.py", "compile_wrapper", "_fn", "__call__"),
    _mark(Stage.CHECKPOINT, "torch/serialization.py", "save"),
    _mark(Stage.CHECKPOINT, "torch/distributed/checkpoint/state_dict_saver.py"),
    _mark(Stage.CHECKPOINT, "safetensors/torch.py", "save_file", "save_model"),
    _mark(Stage.COMMUNICATION, "torch/distributed/distributed_c10d.py"),
    _mark(Stage.COMMUNICATION, "torch/distributed/_functional_collectives.py"),
    _mark(Stage.H2D, "accelerate/utils/operations.py", "send_to_device"),
    _mark(Stage.H2D, "lightning_fabric/utilities/apply_func.py", "move_data_to_device"),
    _mark(Stage.H2D, "lightning/fabric/utilities/apply_func.py", "move_data_to_device"),
    _mark(Stage.EVALUATION, "transformers/trainer.py", "evaluate", "evaluation_loop", "prediction_loop"),
    _mark(Stage.EVALUATION, "pytorch/loops/evaluation_loop.py", "run"),
)
_DECORATED = ("torch/utils/_contextlib.py", "decorate_context")
_AGENT = str(Path(agent.__file__).parent)
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3", "<frozen ")
TRAINING = frozenset({Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER, Stage.DATA_WAIT})


def stage_of(stack: tuple[Frame, ...]) -> Stage:
    """The stage that a stack, innermost frame first, was seen in.

    Making batches between the stages is waiting for data, as it is in a ``DataLoader`` without workers.
    """
    stage = marked_stage(stack)
    if stage is not Stage.HOST:
        return stage
    return Stage.H2D if stack and _copies(stack[0]) else Stage.DATA_WAIT if is_by_hand(stack) else stage


def marked_stage(stack: tuple[Frame, ...]) -> Stage:
    """The stage that libraries' frames mark a stack with; `Stage.HOST` where none does."""
    stage, gradient_free = Stage.HOST, False
    for position in range(len(stack) - 1, -1, -1):
        frame = stack[position]
        gradient_free |= bool(position) and _is_gradient_free(frame, stack[position - 1])
        mark = _stage_of_frame(frame)
        if gradient_free and mark in (Stage.FORWARD, Stage.DATA_WAIT):
            mark = Stage.EVALUATION
        if mark is not None and mark not in _KEEPS.get(stage, frozenset()):
            stage = mark
    return stage


def is_by_hand(stack: tuple[Frame, ...]) -> bool:
    """Whether a function of the user's own makes a batch between the stages, and no ``DataLoader`` called it."""
    named = any(makes_batches(frame) and not is_library(frame) for frame in stack)
    return named and marked_stage(stack) is Stage.HOST


@lru_cache(maxsize=65_536)
def _stage_of_frame(frame: Frame) -> Stage | None:
    file, function = _file(frame), plain_name(frame)
    for mark in _MARKS:
        if file.endswith(mark.file) and (not mark.functions or function in mark.functions):
            return mark.stage
    return None


def plain_name(frame: Frame) -> str:
    """A function's name without the classes and functions around it."""
    return frame.function.rpartition(".")[2]


def _is_gradient_free(frame: Frame, inner: Frame) -> bool:
    """A function of the user's own that is decorated with ``torch.no_grad`` or ``torch.inference_mode``."""
    file, function = _DECORATED
    return _file(frame).endswith(file) and plain_name(frame) == function and not is_library(inner)


def is_library(frame: Frame) -> bool:
    """Whether a frame is of an installed package, the standard library or the recorder."""
    file = _file(frame)
    return frame.file.startswith(_AGENT) or any(mark in file for mark in _LIBRARY)


@lru_cache(maxsize=4096)
def _copies(frame: Frame) -> bool:
    """The line that is running calls a copy to a device, and nothing of it has a Python frame."""
    return not is_library(frame) and _COPY.search(linecache.getline(frame.file, frame.line)) is not None


def _file(frame: Frame) -> str:
    return frame.file.replace("\\", "/")
