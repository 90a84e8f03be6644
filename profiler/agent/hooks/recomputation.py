"""Activation checkpointing: how long forwards take that a backward runs once more.

Only where the backward runs on the training thread, as on a CPU; the frames of checkpoints are private to torch, so a
torch that has none by this name tells nothing.
"""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import RECOMPUTATION
from ..recorder import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..recorder import Recorder

MODULE = "torch.utils.checkpoint"
NAME = "_CheckpointFrame"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap what each checkpoint will run again."""
    frame = getattr(module, NAME, None)
    if frame is None:
        return
    original = frame.__init__

    @wraps(original)
    def __init__(self: Any, recompute_fn: Any, *args: Any, **kwargs: Any) -> None:
        mine = recorder.thread == get_ident()
        original(self, _timed(recompute_fn, recorder) if mine else recompute_fn, *args, **kwargs)

    frame.__init__ = __init__
    recorder.skip_in_dynamo(__init__)


def _timed(recompute: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def again(*args: Any, **kwargs: Any) -> Any:
        if recorder.thread != get_ident():
            return recompute(*args, **kwargs)
        start = now()
        try:
            return recompute(*args, **kwargs)
        finally:
            recorder.spans.append((RECOMPUTATION, start, now(), 0))

    return again
