"""``torch.distributed`` collectives that Python code calls, the script's own and FSDP's: kind, bytes and wait of each.

Gradients of ``DistributedDataParallel`` travel below Python: for them see `.backward`.
"""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import COLLECTIVE_KINDS, COLLECTIVE_UNIT, COMMUNICATION, COMMUNICATION_WAIT
from ..recorder import now
from ..tracebacks import unseen

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.distributed.distributed_c10d"
#: Of each function its kind, and where what it moves stands among its arguments; None where that is no tensor. Not
#: ``isend`` and ``irecv``: ``P2POp`` takes only the very functions of this module, which a script may have by now.
FUNCTIONS: dict[str, tuple[str, tuple[int, str] | None]] = {
    "all_reduce": ("all_reduce", (0, "tensor")),
    "all_reduce_coalesced": ("all_reduce", (0, "tensors")),
    "all_gather": ("all_gather", (0, "tensor_list")),
    "all_gather_coalesced": ("all_gather", (1, "input_tensor_list")),
    "all_gather_single": ("all_gather", (0, "output_tensor")),
    "all_gather_into_tensor": ("all_gather", (0, "output_tensor")),
    "all_gather_object": ("all_gather", None),
    "all_to_all": ("all_to_all", (1, "input_tensor_list")),
    "all_to_all_single": ("all_to_all", (1, "input")),
    "barrier": ("barrier", None),
    "monitored_barrier": ("barrier", None),
    "broadcast": ("broadcast", (0, "tensor")),
    "broadcast_object_list": ("broadcast", None),
    "gather": ("gather", (0, "tensor")),
    "gather_object": ("gather", None),
    "reduce": ("reduce", (0, "tensor")),
    "reduce_scatter": ("reduce_scatter", (1, "input_list")),
    "reduce_scatter_single": ("reduce_scatter", (1, "input")),
    "reduce_scatter_tensor": ("reduce_scatter", (1, "input")),
    "scatter": ("scatter", (0, "tensor")),
    "scatter_object_list": ("scatter", None),
    "send": ("send", (0, "tensor")),
    "recv": ("receive", (0, "tensor")),
}
#: Handles of asynchronous collectives whose wait is still to come; more than that are never waited for.
MAX_PENDING = 1024


def install(module: ModuleType, recorder: Recorder) -> None:
    """Wrap every collective that this torch has; ``torch.distributed`` takes its names from here afterwards."""
    pending: dict[int, int] = {}
    for name, (kind, moved) in FUNCTIONS.items():
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, _timed(original, recorder, COLLECTIVE_KINDS.index(kind), moved, pending))
    work: Any = getattr(module, "Work", None)
    if work is not None:
        work.wait = _timed_wait(work.wait, recorder, pending)


def _timed(
    original: Callable[..., Any],
    recorder: Recorder,
    kind: int,
    moved: tuple[int, str] | None,
    pending: dict[int, int],
) -> Any:
    """``original``, its calls on the training thread recorded as spans; a collective made of others counts as one."""
    spans = recorder.spans

    @wraps(original)
    def collective(*args: Any, **kwargs: Any) -> Any:
        if recorder.thread != get_ident() or recorder.in_collective:
            return original(*args, **kwargs)
        recorder.in_collective = True
        start = now()
        try:
            work = original(*args, **kwargs)
            if work is not None:
                if len(pending) >= MAX_PENDING:
                    pending.clear()
                pending[id(work)] = kind
            return work
        finally:
            end = now()
            recorder.in_collective = False
            spans.append(
                (COMMUNICATION, start, end, kind + COLLECTIVE_UNIT * moved_bytes(moved, args, kwargs))
            )

    unseen(collective)
    return collective


def _timed_wait(original: Callable[..., Any], recorder: Recorder, pending: dict[int, int]) -> Any:
    spans = recorder.spans

    @wraps(original)
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        if recorder.thread != get_ident() or recorder.in_collective:
            return original(self, *args, **kwargs)
        kind = pending.pop(id(self), 0)
        start = now()
        try:
            return original(self, *args, **kwargs)
        finally:
            spans.append((COMMUNICATION_WAIT, start, now(), kind))

    unseen(wait)
    return wait


def moved_bytes(moved: tuple[int, str] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Bytes of the tensor, or the list of tensors, at a position or keyword; 0 where they cannot be told."""
    if moved is None:
        return 0
    position, keyword = moved
    try:
        tensors = args[position] if len(args) > position else kwargs[keyword]
        if not isinstance(tensors, (list, tuple)):
            tensors = (tensors,)
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    except Exception:
        return 0
