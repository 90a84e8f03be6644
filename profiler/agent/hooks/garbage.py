"""Python's garbage collector: how long its pauses are, and where in the script the long ones arise."""

from __future__ import annotations

import gc
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import GARBAGE, PLACE_UNIT
from ..recorder import now
from ..sampler import describe_stack

if TYPE_CHECKING:
    from types import FrameType, ModuleType

    from ..recorder import Recorder

MODULE = "torch"
#: Shorter pauses are counted, but not placed.
LONG_NS = 500_000
MAX_PLACES = 64


def install(module: ModuleType, recorder: Recorder) -> None:
    """Listen to the collector."""
    started: list[int] = []
    places = _Places(recorder)

    def listen(phase: str, info: dict[str, Any]) -> None:
        if recorder.thread != get_ident():
            return
        if phase == "start":
            started.append(now())
        elif started:
            start, end = started.pop(), now()
            frame = sys._getframe().f_back  # none where Python itself collects, as it ends
            place = 0
            try:
                if frame is not None and end - start > LONG_NS:
                    place = places.number(frame)
            except Exception as error:  # which Python would print
                recorder.fail(error)
            generation = int(info.get("generation", 0))
            recorder.spans.append((GARBAGE, start, end, generation + PLACE_UNIT * place))

    gc.callbacks.append(listen)


class _Places:
    """Numbers, from 1, of the stacks that long pauses arose in; 0 once there are too many."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._numbers: dict[tuple[Any, int], int] = {}

    def number(self, frame: FrameType) -> int:
        key = (frame.f_code, frame.f_lineno)
        known = self._numbers.get(key)
        if known is not None:
            return known
        if self._recorder.folder is None or len(self._numbers) >= MAX_PLACES:
            return 0
        self._numbers[key] = number = len(self._numbers) + 1
        self._recorder.folder.fact("garbage_place", number=number, frames=describe_stack(frame))
        return number
