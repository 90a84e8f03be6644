"""Keeps the agent's own frames out of the traceback that Python prints when the user's script fails."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))


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


def install() -> None:
    """Filter tracebacks, unless somebody else has set an exception hook."""
    if sys.excepthook is not sys.__excepthook__:
        return

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> Any:
        linked: BaseException | None = error
        seen: set[int] = set()
        while linked is not None and id(linked) not in seen:
            seen.add(id(linked))
            linked.__traceback__ = without_agent(linked.__traceback__)
            linked = linked.__cause__ or linked.__context__
        return sys.__excepthook__(kind, error, error.__traceback__)

    sys.excepthook = excepthook
