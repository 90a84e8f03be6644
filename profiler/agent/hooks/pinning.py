"""``DataLoader(pin_memory=True)``: what copying a batch to page-locked memory takes, in whichever thread does it."""

from __future__ import annotations

from functools import wraps
from threading import current_thread, get_ident
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

from ..format import PINNING, READY_UNIT
from ..recorder import now

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch.utils.data._utils.pin_memory"


def install(module: Any, recorder: Recorder) -> None:
    """Time each batch as a whole: the function calls itself for what lies within."""
    original = module.pin_memory
    spans = recorder.spans
    pinning: set[int] = set()

    @wraps(original)
    def pin_memory(*args: Any, **kwargs: Any) -> Any:
        thread = get_ident()
        if thread in pinning or recorder.folder is None or not recorder.is_on:
            return original(*args, **kwargs)
        pinning.add(thread)
        start, cpu = now(), thread_time_ns()
        try:
            return original(*args, **kwargs)
        finally:
            pinning.discard(thread)
            loader = recorder.fetching if thread == recorder.thread else _loader_of(current_thread())
            spans.append((PINNING, start, now(), loader + READY_UNIT * (thread_time_ns() - cpu)))

    module.pin_memory = pin_memory


def _loader_of(thread: Any) -> int:
    """The loader that a thread pins for; 0 where it was not seen to start."""
    number: int = getattr(thread, "_trainrx_loader", 0)
    return number
