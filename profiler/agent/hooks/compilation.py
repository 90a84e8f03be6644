"""TorchDynamo: how long it compiles, where it breaks a model into pieces, and what makes it compile anew.

What it compiles within the timed steps it compiles anew.
"""

from __future__ import annotations

import re
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import COMPILATION
from ..recorder import now

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch._dynamo.callback"
MAX_BREAKS = 64
MAX_RECOMPILATIONS = 64
MAX_REASON = 200


def install(module: ModuleType, recorder: Recorder) -> None:
    """Listen to the beginning and end of compilations; a torch without these callbacks tells nothing."""
    handler: Any = getattr(module, "callback_handler", None)
    if handler is None or not hasattr(handler, "register_start_callback"):
        return
    started: list[int] = []
    breaks, failures = GraphBreaks(recorder), GuardFailures(recorder)

    def begin(*_: Any) -> None:
        if recorder.thread == get_ident():
            started.append(now())

    def end(*_: Any) -> None:
        if recorder.thread == get_ident() and started:
            recorder.spans.append((COMPILATION, started.pop(), now(), 0))
            breaks.note()
            failures.note()

    handler.register_start_callback(begin)
    handler.register_end_callback(end)


class GraphBreaks:
    """Writes down each place at which a compiled model was broken, once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._seen = 0
        self._places: set[tuple[str, int]] = set()

    def note(self) -> None:
        """Write down the breaks that came since the last call."""
        known = getattr(sys.modules.get("torch._dynamo.utils"), "graph_break_reasons", ())
        self._seen = min(self._seen, len(known))  # resetting the compiler empties the list
        fresh, self._seen = known[self._seen :], len(known)
        try:
            for reason in fresh:
                self._tell(reason)
        except Exception as error:
            self._recorder.fail(error)

    def _tell(self, reason: Any) -> None:
        frame = reason.user_stack[-1] if reason.user_stack else None
        place = ("", 0) if frame is None else (str(frame.filename), int(frame.lineno or 0))
        if place in self._places or len(self._places) >= MAX_BREAKS or self._recorder.folder is None:
            return
        self._places.add(place)
        words = str(reason.reason).strip().splitlines()
        self._recorder.folder.fact(
            "graph_break",
            file=place[0],
            line=place[1],
            function=None if frame is None else str(frame.name),
            reason=words[0][:MAX_REASON] if words else None,
        )


class GuardFailures:
    """Writes down what made TorchDynamo compile a function anew: the check that failed, in its own words."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._seen: dict[int, int] = {}
        self._told = 0

    def note(self) -> None:
        """Write down the failures that came since the last call."""
        known: Any = getattr(sys.modules.get("torch._dynamo.utils"), "guard_failures", {})
        try:
            for code, reasons in list(known.items()):
                self._tell(code, reasons)
        except Exception as error:
            self._recorder.fail(error)

    def _tell(self, code: Any, reasons: list[str]) -> None:
        before, self._seen[id(code)] = self._seen.get(id(code), 0), len(reasons)
        if len(reasons) <= before or self._told >= MAX_RECOMPILATIONS or self._recorder.folder is None:
            return
        self._told += 1
        self._recorder.folder.fact(
            "recompilation",
            file=str(code.co_filename),
            line=int(code.co_firstlineno),
            function=str(code.co_name),
            reason=_check_alone(str(reasons[-1])),
        )


def _check_alone(reason: str) -> str:
    """The check that failed, without the number of the compilation before it and the source behind it."""
    words = reason.partition("\n")[0].partition("  # ")[0]
    return re.sub(r"^\d+/\d+(_\d+)?: ", "", words).strip()[:MAX_REASON]
