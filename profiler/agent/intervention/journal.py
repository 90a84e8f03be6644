"""Writes down what became of each knob in this process: ``knobs/<pid>.jsonl`` in the run folder, one event a line.

Events are ``installed``, ``applied`` (it met what it acts on), ``not applied`` (it met it and could not act) and
``failed`` (its own code raised). A knob without ``applied`` in a training process changed nothing there.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import Any

from .. import process

FOLDER = "knobs"
#: A knob that meets a thing again and again tells of the first few places, and looks for new ones so often.
MAX_EVENTS = 50
MAX_LOOKS = 20
_AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Journal:
    """Appends to this process's file; a disk that cannot be written is no reason to stop the training.

    Without a run folder nobody wants to know, and nothing is written.
    """

    def __init__(self, run_dir: str) -> None:
        self._folder = os.path.join(run_dir, FOLDER) if run_dir else None
        self._looks: Counter[tuple[str, str, str]] = Counter()
        self._told: set[tuple[str, str, str, str | None, int | None]] = set()
        self._counts: Counter[tuple[str, str]] = Counter()

    def tell(self, knob: str, event: str, detail: str = "") -> None:
        """Note an event with the place in the user's code that led to it; each place is noted once a process."""
        key = (f"{os.getpid()} {knob}", event, detail)
        self._looks[key] += 1
        if self._looks[key] > MAX_LOOKS:
            return
        file, line = call_site()
        if (*key, file, line) in self._told or self._counts[key[:2]] >= MAX_EVENTS:
            return
        self._told.add((*key, file, line))
        self._counts[key[:2]] += 1
        record = {
            "knob": knob, "event": event, "detail": detail, "file": file, "line": line, "rank": process.rank(),
        }  # fmt: skip
        self._append(json.dumps(record))

    def _append(self, line: str) -> None:
        if self._folder is None:
            return
        try:
            os.makedirs(self._folder, exist_ok=True)
            with open(os.path.join(self._folder, f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError:
            return


def call_site() -> tuple[str | None, int | None]:
    """File and line of the innermost caller that is neither torch, nor this agent, nor the standard library."""
    frame: Any = sys._getframe(1)
    ours = (_AGENT, *_torch_folder(), os.path.dirname(os.__file__) + os.sep)
    while frame is not None:
        file = frame.f_code.co_filename
        foreign = "site-packages" in file and not file.startswith(ours[:-1])
        if not file.startswith("<") and (foreign or not file.startswith(ours)):
            return os.path.abspath(file), frame.f_lineno
        frame = frame.f_back
    return None, None


def _torch_folder() -> tuple[str, ...]:
    torch = sys.modules.get("torch")
    return (os.path.dirname(torch.__file__) + os.sep,) if torch is not None and torch.__file__ else ()
