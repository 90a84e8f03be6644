"""Keeps the losses of a trial's steps: on a CPU as numbers, on a GPU as tensors that are read when recording ends."""

from __future__ import annotations

from typing import Any

MAX_LOSSES = 20_000


class Losses:
    """The values that backwards started from, with the number of the step they belong to."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, Any]] = []

    def add(self, step: int, tensors: Any) -> None:
        """Note one backward; several tensors count by their sum."""
        if len(self._kept) >= MAX_LOSSES:
            return
        several = tensors if isinstance(tensors, (list, tuple)) else (tensors,)
        values = [tensor.detach().double().sum() for tensor in several]
        on_cpu = all(value.device.type == "cpu" for value in values)
        self._kept.append((step, _number(values) if on_cpu else values))

    def values(self) -> list[tuple[int, float]]:
        """Step and value of each backward, in order."""
        return [(step, kept if isinstance(kept, float) else _number(kept)) for step, kept in self._kept]


def _number(values: list[Any]) -> float:
    return float(sum(float(value) for value in values))
