"""TorchDynamo: how long it compiles. What it compiles within the timed steps it compiles anew."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import COMPILATION
from ..recorder import now

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch._dynamo.callback"


def install(module: ModuleType, recorder: Recorder) -> None:
    """Listen to the beginning and end of compilations; a torch without these callbacks tells nothing."""
    handler: Any = getattr(module, "callback_handler", None)
    if handler is None or not hasattr(handler, "register_start_callback"):
        return
    started: list[int] = []

    def begin(*_: Any) -> None:
        if recorder.thread == get_ident():
            started.append(now())

    def end(*_: Any) -> None:
        if recorder.thread == get_ident() and started:
            recorder.spans.append((COMPILATION, started.pop(), now(), 0))

    handler.register_start_callback(begin)
    handler.register_end_callback(end)
