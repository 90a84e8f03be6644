"""Functional collectives, by which ``DTensor`` moves its shards: what is issued, and the waits for it.

The compiler traces these functions: while it does, nothing is recorded, so that its graphs stay as they are.
"""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import COLLECTIVE_KINDS, COLLECTIVE_UNIT, COMMUNICATION, COMMUNICATION_WAIT
from ..recorder import now
from ..tracebacks import unseen
from .collectives import moved_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.distributed._functional_collectives"
#: By function: its kind. The first argument is the tensor, or the list of tensors, that this rank gives.
FUNCTIONS = {
    "all_reduce": "all_reduce",
    "all_reduce_coalesced": "all_reduce",
    "all_gather_single": "all_gather",
    "all_gather_tensor": "all_gather",
    "all_gather_into_tensor_coalesced": "all_gather",
    "reduce_scatter_single": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "all_to_all_single": "all_to_all",
    "broadcast": "broadcast",
}


def install(module: ModuleType, recorder: Recorder) -> None:
    """Wrap what this torch has of them, and the wait for their results."""
    import torch

    is_compiling = torch.compiler.is_compiling
    for name, kind in FUNCTIONS.items():
        original = getattr(module, name, None)
        if original is not None:
            number = COLLECTIVE_KINDS.index(kind)
            setattr(module, name, _timed(original, recorder, COMMUNICATION, number, is_compiling))
    module.__dict__["wait_tensor"] = _timed(
        module.__dict__["wait_tensor"], recorder, COMMUNICATION_WAIT, 0, is_compiling
    )


def _timed(
    original: Callable[..., Any], recorder: Recorder, code: int, kind: int, is_compiling: Callable[[], bool]
) -> Any:
    spans = recorder.spans

    @wraps(original)
    def collective(*args: Any, **kwargs: Any) -> Any:
        if is_compiling() or recorder.thread != get_ident() or recorder.in_collective:
            return original(*args, **kwargs)
        recorder.in_collective = True
        start = now()
        try:
            return original(*args, **kwargs)
        finally:
            end = now()
            recorder.in_collective = False
            size = moved_bytes((0, "self"), args, kwargs) if code == COMMUNICATION else 0
            spans.append((code, start, end, kind + COLLECTIVE_UNIT * size))

    unseen(collective)
    return collective
