"""Sees the processes of a run's ranks end, and notes when: of ranks that drag each other along, the first counts.

A rank that is killed says no last word, and the others fail or are killed within milliseconds of it. The launcher is no
parent of theirs, so it waits on their process descriptors (Linux); elsewhere nothing is noted.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .agent import clock
from .agent import format as layout
from .facts import text, whole

#: The ``process`` fact is the first that a rank writes.
HEAD_BYTES = 64 * 1024
#: More ranks than one machine has; the others go unwatched.
MAX_RANKS = 256
#: Position of ``exit_code`` behind the closing bracket of the name in ``/proc/<pid>/stat`` (man 5 proc).
_EXIT_CODE = 49


@dataclass(frozen=True)
class _Watched:
    folder: Path
    pid: int


class RankWatch:
    """Watches the ranks that have claimed a folder of a run, on this machine."""

    def __init__(self, run_dir: Path) -> None:
        self._ranks = run_dir / "ranks"
        self._clock = clock.identity()
        self._known: set[Path] = set()
        self._open: dict[int, _Watched] = {}
        self._poll = select.poll() if hasattr(select, "poll") and hasattr(os, "pidfd_open") else None

    def wait(self, seconds: float) -> None:
        """Sleep so long, and note the ranks that end meanwhile."""
        until = time.monotonic() + seconds
        self._find_ranks()
        while (left := until - time.monotonic()) > 0:
            if self._poll is None or not self._open:
                time.sleep(left)
                return
            for descriptor, _ in self._poll.poll(left * 1e3):
                self._note(descriptor)

    def close(self) -> None:
        """Note the ranks that have ended by now, and forget the others."""
        if self._poll is not None and self._open:
            for descriptor, _ in self._poll.poll(0):
                self._note(descriptor)
        for descriptor in list(self._open):
            self._forget(descriptor)

    def _find_ranks(self) -> None:
        if self._poll is None or len(self._known) >= MAX_RANKS or not self._ranks.is_dir():
            return
        for folder in sorted(self._ranks.iterdir()):
            process = None if folder in self._known else _process_fact(folder)
            if process is None:
                continue
            self._known.add(folder)
            pid = whole(process, "pid")
            # a rank on another machine, or in another container, has a number that means another process here
            if pid is not None and pid > 0 and self._clock and text(process, "clock") == self._clock:
                self._watch(_Watched(folder, pid))

    def _watch(self, rank: _Watched) -> None:
        assert self._poll is not None
        try:
            descriptor = os.pidfd_open(rank.pid)  # type: ignore[attr-defined]
        except OSError:  # it is over already, or this kernel has no such call
            return
        self._open[descriptor] = rank
        self._poll.register(descriptor, select.POLLIN)

    def _note(self, descriptor: int) -> None:
        moment, rank = time.perf_counter_ns(), self._open.get(descriptor)
        gone = None if rank is None else {"t": moment, "signal": _fatal_signal(rank.pid)}
        self._forget(descriptor)
        if rank is not None:
            with contextlib.suppress(OSError):
                (rank.folder / layout.GONE_FILE).write_text(json.dumps(gone))

    def _forget(self, descriptor: int) -> None:
        """Watch it no more; an interrupt may have come between two of these lines before."""
        assert self._poll is not None
        with contextlib.suppress(KeyError):
            self._poll.unregister(descriptor)
        if self._open.pop(descriptor, None) is not None:
            os.close(descriptor)


def _process_fact(folder: Path) -> dict[str, Any] | None:
    """What the rank told of itself, once that is written."""
    try:
        with (folder / layout.FACTS_FILE).open("rb") as file:
            line, end, _ = file.read(HEAD_BYTES).partition(b"\n")
        fact = json.loads(line) if end else None
    except (OSError, ValueError, RecursionError):
        return None
    return fact if isinstance(fact, dict) and fact.get("fact") == "process" else None


def _fatal_signal(pid: int) -> int | None:
    """The signal that ended a process whose parent has not yet asked for its fate; None if it is too late to tell."""
    try:
        status = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_EXIT_CODE])
    except (OSError, ValueError, IndexError):
        return None
    return status & 0x7F or None
