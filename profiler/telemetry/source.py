"""The interface of a source of telemetry, and its replaying double."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

Reading = dict[str, Any]


class Source(Protocol):
    """Reads one part of the machine.

    Attributes:
        name: the key under which its readings are kept.
        absence: why it cannot be read here; None where it can.
    """

    name: str
    absence: str | None

    def read(self, pids: Sequence[int]) -> Any:
        """What it shows now, as JSON values; None where it shows nothing for these processes."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class ReplayedSource:
    """Gives recorded readings one after another, and the last one from then on."""

    def __init__(self, name: str, readings: Iterable[Any], *, absence: str | None = None) -> None:
        self.name = name
        self.absence = absence
        self.is_closed = False
        self._readings = list(readings)
        self._next = 0

    def read(self, pids: Sequence[int]) -> Any:
        """The next recorded reading; None where there is none."""
        if not self._readings:
            return None
        reading = self._readings[min(self._next, len(self._readings) - 1)]
        self._next += 1
        return reading

    def close(self) -> None:
        """Nothing is held; that it was closed is noted."""
        self.is_closed = True
