"""Python's garbage collector: how long its pauses are."""

from __future__ import annotations

import gc
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import GARBAGE
from ..recorder import now

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch"


def install(module: ModuleType, recorder: Recorder) -> None:
    """Listen to the collector."""
    started: list[int] = []

    def listen(phase: str, info: dict[str, Any]) -> None:
        if recorder.thread != get_ident():
            return
        if phase == "start":
            started.append(now())
        elif started:
            recorder.spans.append((GARBAGE, started.pop(), now(), int(info.get("generation", 0))))

    gc.callbacks.append(listen)
