"""Keeps the agent's own frames out of what Python prints: tracebacks of a failing script, and where warnings arose."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = os.path.dirname(os.path.abspath(__file__))
#: ``warnings`` counts no frame towards ``stacklevel`` whose file name holds both words: Python's own import frames.
_UNCOUNTED = " (uncounted like importlib._bootstrap)"


def unseen(wrapper: Callable[..., Any]) -> None:
    """Let a warning with a ``stacklevel`` that is raised below ``wrapper`` name the caller's line, as without it."""
    code = wrapper.__code__
    wrapper.__code__ = code.replace(co_filename=code.co_filename + _UNCOUNTED)


def without_agent(traceback: TracebackType | None) -> TracebackType | None:
    """The same traceback less the frames of the agent's files."""
    kept: list[TracebackType] = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_HERE):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def install(tell: Callable[[BaseException], None] = lambda error: None) -> None:
    """Filter tracebacks and tell of uncaught exceptions, unless somebody else has set an exception hook."""
    if sys.excepthook is not sys.__excepthook__:
        return

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> Any:
        linked: BaseException | None = error
        seen: set[int] = set()
        tell(error)
        while linked is not None and id(linked) not in seen:
            seen.add(id(linked))
            linked.__traceback__ = without_agent(linked.__traceback__)
            linked = linked.__cause__ or linked.__context__
        return sys.__excepthook__(kind, error, error.__traceback__)

    sys.excepthook = excepthook
