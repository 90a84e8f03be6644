"""Profilers of the script's own: torch refuses a second one beside the deep window, so that makes way."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..tracebacks import unseen

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.autograd.profiler"
#: What `torch.autograd.profiler` starts each kind of profiler with; the deep window's own passes through it too.
BEGINNINGS = ("_prepare_profiler", "_enable_profiler")
END = "_disable_profiler"


def install(module: ModuleType, recorder: Recorder) -> None:
    """Tell the deep window of profilers that begin and end; a torch without these names tells nothing."""

    def begins() -> None:
        recorder.window.profiler_begins(recorder)

    def ends() -> None:
        recorder.window.profiler_ends()

    for name in BEGINNINGS:
        _before(module, name, begins, recorder)
    _before(module, END, ends, recorder)


def _before(module: ModuleType, name: str, tell: Callable[[], None], recorder: Recorder) -> None:
    original: Any = getattr(module, name, None)
    if original is None:
        return

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            tell()
        except Exception as error:
            recorder.fail(error)
        return original(*args, **kwargs)

    unseen(call)
    setattr(module, name, call)
