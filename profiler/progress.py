"""How far a run going on has come, read from its growing files at next to no cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .agent import format as layout
from .recording import record_files

_STEP_CODES = (layout.STEP, layout.STEP_TRACED)
_RECORD_BYTES = 8 * layout.SPAN_WORDS
#: The agent's other thread may write a few stacks after the ``end`` fact.
TAIL_BYTES = 64 * 1024
STOPPED, EXIT = "stopped", "exit"


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    Attributes:
        seconds: since the command was started.
        steps: finished by the rank that is furthest.
        last_step_s: the wall time of its last step; 0 before the first.
        ended: ``stopped`` once a rank has recorded enough, ``exit`` once all of them came to their end; None while
            recording goes on, or a process could not say.
    """

    seconds: float
    steps: int
    last_step_s: float
    ended: str | None


class ProgressReader:
    """Reads only what was appended since the last call."""

    def __init__(self, run_dir: Path) -> None:
        self._ranks = run_dir / "ranks"
        self._offsets: dict[Path, int] = {}
        self._steps: dict[Path, int] = {}
        self._last_step_s = 0.0

    def read(self, seconds: float) -> Progress:
        """The progress now; ``seconds`` is passed through."""
        folders = sorted(self._ranks.iterdir()) if self._ranks.is_dir() else []
        for folder in folders:
            for path in record_files(folder / layout.SPANS_FILE):
                self._read_steps(folder, path)
        return Progress(
            seconds=seconds,
            steps=max(self._steps.values(), default=0),
            last_step_s=self._last_step_s,
            ended=_together([_end(folder / layout.FACTS_FILE) for folder in folders]),
        )

    def _read_steps(self, folder: Path, path: Path) -> None:
        offset = self._offsets.get(path, 0)
        try:
            count = (path.stat().st_size - offset) // _RECORD_BYTES
            if count <= 0:
                return
            records = np.fromfile(path, "<i8", count=count * layout.SPAN_WORDS, offset=offset)
        except FileNotFoundError:  # not written yet, or rolled away this moment
            return
        records = records.reshape(-1, layout.SPAN_WORDS)
        self._offsets[path] = offset + len(records) * _RECORD_BYTES
        steps = records[np.isin(records[:, 0], _STEP_CODES)]
        if len(steps):
            self._steps[folder] = self._steps.get(folder, 0) + len(steps)
            self._last_step_s = float(steps[-1, 2] - steps[-1, 1]) / 1e9


def _together(ends: list[str | None]) -> str | None:
    """How the run ended, from how each rank did: a helper process that exits ends nothing."""
    if STOPPED in ends:
        return STOPPED
    return EXIT if ends and None not in ends else None


def _end(path: Path) -> str | None:
    """The reason in an ``end`` fact, which is one of the last lines."""
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
            tail = file.read(TAIL_BYTES).splitlines()
    except OSError:
        return None
    return next((reason for line in reversed(tail) if (reason := _reason(line))), None)


def _reason(line: bytes) -> str | None:
    if b'"end"' not in line:
        return None
    try:
        fact = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_end = isinstance(fact, dict) and fact.get("fact") == "end"
    return str(fact.get("reason")) if is_end else None
