"""Files of records that stay small however long a run goes on: the beginning and the latest stretch are kept.

A file grows to `HEAD_BYTES`. What comes after goes to numbered files beside it, of which only the latest are kept; for
spans a summary of each minute is kept of all of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .format import KEPT_SEGMENTS, MINUTE_CODES, STEP, STEP_TRACED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .rank_folder import RecordFolder

HEAD_BYTES = 8 * 1024 * 1024
SEGMENT_BYTES = 4 * 1024 * 1024
MINUTE_NS = 60_000_000_000


class RollingFile:
    """One file of records and the numbered ones that follow it."""

    def __init__(self, folder: RecordFolder, name: str) -> None:
        self._folder = folder
        self._name = name
        self._number = latest_number(folder.path, name)
        self._descriptor = -1
        self._room = 0
        self._open()

    @property
    def is_rolling(self) -> bool:
        """Whether the head is full, so that what is written now may go one day."""
        return self._number > 0

    def write(self, data: bytes) -> None:
        """Append whole records."""
        if len(data) > self._room and self._room < self._limit:
            self._roll()
        self._folder.write(self._descriptor, data)
        self._room -= len(data)

    @property
    def _limit(self) -> int:
        return SEGMENT_BYTES if self._number else HEAD_BYTES

    def _open(self) -> None:
        name = f"{self._name}.{self._number}" if self._number else self._name
        self._descriptor = self._folder.open(name)
        self._room = self._limit - os.fstat(self._descriptor).st_size

    def _roll(self) -> None:
        self._folder.close(self._descriptor)
        self._number += 1
        self._open()
        try:
            os.unlink(os.path.join(self._folder.path, f"{self._name}.{self._number - KEPT_SEGMENTS}"))
        except OSError:
            return


def latest_number(folder: str, name: str) -> int:
    """The number of the latest file that follows ``name``; 0 where there is none."""
    numbers = (entry[len(name) + 1 :] for entry in os.listdir(folder) if entry.startswith(f"{name}."))
    return max((int(number) for number in numbers if number.isdigit()), default=0)


class Minutes:
    """Adds spans up by the minute."""

    def __init__(self) -> None:
        self._start_ns: int | None = None
        self._end_ns = 0
        self._steps: list[int] = []
        self._totals = dict.fromkeys(MINUTE_CODES, 0)

    def add(self, spans: Iterable[tuple[int, int, int, int]]) -> tuple[int, ...] | None:
        """Add spans in the order of their end; a record of `format`'s ``minutes.bin`` once a minute is over."""
        totals, done = self._totals, None
        for code, start, end, _ in spans:
            if self._start_ns is None:
                self._start_ns = start
            elif end - self._start_ns >= MINUTE_NS and done is None:
                done = self._record()
                totals, self._start_ns = self._totals, self._end_ns
            self._end_ns = max(self._end_ns, end)
            if code in totals:
                totals[code] += end - start
            elif code in (STEP, STEP_TRACED):
                self._steps.append(end - start)
        return done

    def _record(self) -> tuple[int, ...]:
        assert self._start_ns is not None
        steps = self._steps or [0]
        record = (self._start_ns, self._end_ns, len(self._steps), sum(steps), min(steps), max(steps))
        summed = tuple(self._totals.values())
        self._steps, self._totals = [], dict.fromkeys(MINUTE_CODES, 0)
        return (*record, *summed)
