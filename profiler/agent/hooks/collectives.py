"""``torch.distributed`` collectives that the script calls itself: communication spans."""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import COMMUNICATION
from ..recorder import now
from ..tracebacks import unseen

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.distributed.distributed_c10d"
NAMES = (
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_to_all", "all_to_all_single",
    "barrier", "broadcast", "broadcast_object_list", "gather", "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "scatter", "send", "recv",
)  # fmt: skip


def install(module: ModuleType, recorder: Recorder) -> None:
    """Wrap every collective that this torch has; ``torch.distributed`` takes its names from here afterwards."""
    for name in NAMES:
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, _timed(original, recorder))


def _timed(original: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    spans = recorder.spans

    @wraps(original)
    def collective(*args: Any, **kwargs: Any) -> Any:
        if recorder.thread != get_ident():
            return original(*args, **kwargs)
        start = now()
        try:
            return original(*args, **kwargs)
        finally:
            spans.append((COMMUNICATION, start, now(), 0))

    unseen(collective)
    return collective
