"""Keeps the agent's own frames out of what Python prints: tracebacks of errors, and where warnings arose.

A wrapper cannot take itself out of a traceback that passes through it, so those who walk one are handed a copy without
it: Python's own exception hook, and the module ``traceback`` that scripts, ``logging`` and loader workers print with.
What walks ``__traceback__`` by itself, and ``traceback.print_stack``, still see the wrappers.
"""

from __future__ import annotations

import os
import sys
import traceback
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = os.path.dirname(os.path.abspath(__file__))
#: What the module ``traceback`` goes through tracebacks with; the second since Python 3.11.
_WALKERS = ("walk_tb", "_walk_tb_with_full_positions")
#: ``warnings`` counts no frame towards ``stacklevel`` whose file name holds both words: Python's own import frames.
_UNCOUNTED = " (uncounted like importlib._bootstrap)"


def unseen(wrapper: Callable[..., Any]) -> None:
    """Let a warning with a ``stacklevel`` that is raised below ``wrapper`` name the caller's line, as without it."""
    code = wrapper.__code__
    wrapper.__code__ = code.replace(co_filename=code.co_filename + _UNCOUNTED)


def without_agent(entry: TracebackType | None) -> TracebackType | None:
    """The same traceback less the frames of the agent's files."""
    kept: list[TracebackType] = []
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(_HERE):
            kept.append(entry)
        entry = entry.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def hide_from_printing() -> None:
    """Have the module ``traceback`` walk past the agent's frames."""
    for name in _WALKERS:
        walk = getattr(traceback, name, None)
        if walk is not None:
            setattr(traceback, name, _past_agent(walk))


def _past_agent(walk: Callable[[TracebackType | None], Any]) -> Callable[[TracebackType | None], Any]:
    @wraps(walk)
    def walk_past(tb: TracebackType | None) -> Any:
        try:
            shown = without_agent(tb)
        except Exception:
            shown = tb
        return walk(shown)

    return walk_past


def install(tell: Callable[[BaseException], None] = lambda error: None) -> None:
    """Filter tracebacks, and tell of uncaught exceptions unless somebody else has set an exception hook."""
    hide_from_printing()
    if sys.excepthook is not sys.__excepthook__:
        return

    def excepthook(kind: type[BaseException], error: BaseException, entry: TracebackType | None) -> Any:
        linked: BaseException | None = error
        seen: set[int] = set()
        tell(error)
        while linked is not None and id(linked) not in seen:
            seen.add(id(linked))
            linked.__traceback__ = without_agent(linked.__traceback__)
            linked = linked.__cause__ or linked.__context__
        return sys.__excepthook__(kind, error, error.__traceback__)

    sys.excepthook = excepthook
