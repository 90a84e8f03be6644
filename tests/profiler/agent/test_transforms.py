"""What the transforms of a data set take, each call counted once."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent import transforms


def test_a_call_that_is_inherited_or_nested_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN transforms of a class, of one that inherits its call, and of one that calls it twice
    class Noise:
        def __call__(self, value: int) -> int:
            time.sleep(0.002)
            return value + 1

    class LightNoise(Noise): ...

    class DoubleNoise(Noise):
        def __call__(self, value: int) -> int:
            return super().__call__(super().__call__(value))

    line = Noise.__call__.__code__.co_firstlineno
    monkeypatch.setattr(transforms, "_totals", {})
    monkeypatch.setattr(transforms, "_wrapped", set())
    pipeline = [Noise(), LightNoise(), DoubleNoise()]
    transforms.watch(SimpleNamespace(transform=pipeline))
    # WHEN each runs three times
    begun = time.perf_counter_ns()
    values = [transform(0) for transform in pipeline for _ in range(3)]
    passed = time.perf_counter_ns() - begun
    told: list[dict[str, Any]] = []
    transforms.tell(SimpleNamespace(fact=lambda _, **values: told.append(values)))  # type: ignore[arg-type]
    # THEN each has three calls, which together took no longer than all did
    assert values == [1, 1, 1, 1, 1, 1, 2, 2, 2]
    assert [total["calls"] for total in told] == [3, 3, 3]
    assert sum(total["wall_ns"] for total in told) <= passed
    # AND the inherited call's place is where the user wrote it
    assert (told[1]["file"], told[1]["line"]) == (__file__, line)
