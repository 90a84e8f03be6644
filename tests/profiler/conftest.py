"""Recordings made by hand, for tests of what reads them, and a GPU that is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trainrx.profiler.recording import Frame, RankRecording

Span = tuple[int, int, int, int]
MakeRecording = Callable[..., RankRecording]


@pytest.fixture(scope="session")
def make_recording() -> MakeRecording:
    """Builds a `RankRecording` from plain lists."""

    def make(
        spans: Iterable[Span],
        *,
        samples: Sequence[tuple[int, int]] = (),
        stacks: Mapping[int, tuple[Frame, ...]] | None = None,
        facts: Mapping[str, list[dict[str, Any]]] | None = None,
        fault: str | None = None,
        device: Iterable[tuple[int, int, int, int, int]] = (),
    ) -> RankRecording:
        return RankRecording(
            rank=0,
            folder=Path("ranks/0"),
            spans=np.array(list(spans), dtype=np.int64).reshape(-1, 4),
            samples=np.array(list(samples), dtype=np.int64).reshape(-1, 2),
            stacks=stacks or {},
            facts=facts or {},
            fault=fault,
            device=np.array(list(device), dtype=np.int64).reshape(-1, 5),
        )

    return make


class FakeCuda:
    """Stands in for ``torch.cuda``: a device that works off what is launched, in order.

    Attributes:
        host_ns: what the host's clock shows.
        free_ns: when the device is done with all that was launched.
    """

    def __init__(self) -> None:
        self.host_ns = 1_000_000_000
        self.free_ns = 0
        self.is_started = True
        self.is_capturing = False
        self.fault: str | None = None
        self.made = 0
        self.recorded = 0

    def launch(self, work_ns: int) -> None:
        """The host launches work and goes on at once."""
        self.free_ns = max(self.free_ns, self.host_ns) + work_ns

    def wait(self) -> None:
        """The host waits until the device is done, as ``.item()`` does."""
        self.host_ns = max(self.host_ns, self.free_ns)

    def is_initialized(self) -> bool:
        return self.is_started

    def is_current_stream_capturing(self) -> bool:
        self._maybe("is_current_stream_capturing")
        return self.is_capturing

    def Event(self, enable_timing: bool = False) -> Any:
        self._maybe("Event")
        assert enable_timing
        self.made += 1
        return _Event(self)

    def _maybe(self, what: str) -> None:
        if what == self.fault:
            raise RuntimeError(f"CUDA error in {what}")


class _Event:
    """Knows when it passes; offers nothing that waits."""

    def __init__(self, cuda: FakeCuda) -> None:
        self._cuda = cuda
        self.at_ns: int | None = None

    def record(self) -> None:
        self._cuda._maybe("record")
        assert not self._cuda.is_capturing, "an event was recorded while a graph is captured"
        self._cuda.recorded += 1
        self.at_ns = max(self._cuda.free_ns, self._cuda.host_ns)

    def query(self) -> bool:
        self._cuda._maybe("query")
        assert not self._cuda.is_capturing, "an event was asked while a graph is captured"
        assert self.at_ns is not None
        return self.at_ns <= self._cuda.host_ns

    def elapsed_time(self, end: _Event) -> float:
        self._cuda._maybe("elapsed_time")
        assert self.query() and end.query(), "elapsed_time of an event that has not passed"
        assert self.at_ns is not None and end.at_ns is not None
        return (end.at_ns - self.at_ns) / 1e6


@pytest.fixture
def fake_cuda() -> FakeCuda:
    """A device whose clock the test turns."""
    return FakeCuda()
