"""Recordings made by hand, for tests of what reads them."""

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
    ) -> RankRecording:
        return RankRecording(
            rank=0,
            folder=Path("ranks/0"),
            spans=np.array(list(spans), dtype=np.int64).reshape(-1, 4),
            samples=np.array(list(samples), dtype=np.int64).reshape(-1, 2),
            stacks=stacks or {},
            facts=facts or {},
            fault=fault,
        )

    return make
