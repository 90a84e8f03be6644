"""What is counted of a training's memory: exactly what its tensors hold, and what a GPU's allocator tells."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from trainrx.profiler.agent.device_memory import DeviceMemory, reading
from trainrx.profiler.agent.holdings import LOOK_AT, WATCHED_UPDATES, Holdings, held_bytes


class Recorder:
    """Stands in for the recorder."""

    def __init__(self) -> None:
        self.folder = self
        self.facts: list[tuple[str, dict[str, Any]]] = []
        self.notes: list[str] = []

    def fact(self, fact: str, **values: Any) -> None:
        self.facts.append((fact, values))

    def note(self, text: str) -> None:
        self.notes.append(text)


def updated(optimizer_class: Any, **options: Any) -> Any:
    """An optimizer over 10 numbers in 32 bits, and a frozen one, after a few updates."""
    weights = [torch.nn.Parameter(torch.ones(2, 3)), torch.nn.Parameter(torch.ones(4))]
    unused = torch.nn.Parameter(torch.ones(5))
    optimizer = optimizer_class([*weights, unused], **options)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.stack([weight.square().sum() for weight in weights]).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    return optimizer


@pytest.mark.parametrize(
    ("optimizer_class", "options", "state_bytes"),
    [
        (torch.optim.SGD, {"lr": 0.1}, 0),
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}, 40),
        (torch.optim.AdamW, {"lr": 0.1}, 2 * 40 + 2 * 4),  # two moments, and a step number a tensor
    ],
)
def test_what_an_optimizer_holds_is_counted_exactly(
    optimizer_class: Any, options: dict[str, Any], state_bytes: int
) -> None:
    assert held_bytes(updated(optimizer_class, **options)) == {
        "cpu": {"parameters": 60, "gradients": 40, "optimizer_state": state_bytes}
    }


def test_state_of_another_shape_is_found() -> None:
    found = held_bytes(updated(torch.optim.LBFGS, lr=0.1))
    assert found["cpu"]["optimizer_state"] > 0


def test_each_optimizer_is_looked_at_once_and_only_at_first() -> None:
    recorder = Recorder()
    holdings = Holdings(recorder)  # type: ignore[arg-type]
    optimizer = updated(torch.optim.SGD, lr=0.1)
    while holdings.is_watching:
        holdings.saw(optimizer, 1)
        holdings.saw(optimizer, 2)
    assert [values["optimizer"] for _, values in recorder.facts] == [1, 2]
    assert sum(holdings._updates.values()) == WATCHED_UPDATES and LOOK_AT > 1


def test_an_optimizer_that_cannot_be_looked_into_is_noted() -> None:
    recorder = Recorder()
    holdings = Holdings(recorder)  # type: ignore[arg-type]
    for _ in range(3):
        holdings.saw(SimpleNamespace(param_groups=[]), 1)
    assert len(recorder.notes) == 1 and "was not counted" in recorder.notes[0]


STATS = {
    "allocated_bytes": {"all": {"current": 3, "peak": 5}},
    "reserved_bytes": {"all": {"current": 8, "peak": 9}},
    "inactive_split_bytes": {"all": {"current": 1}},
    "num_alloc_retries": 2,
    "num_ooms": 1,
}


def a_gpu(monkeypatch: pytest.MonkeyPatch, stats: Any) -> Any:
    cuda = SimpleNamespace(
        current_device=lambda: 1,
        get_device_properties=lambda device: SimpleNamespace(
            name="a device", total_memory=10, major=9, minor=0
        ),
        memory_stats_as_nested_dict=stats,
    )
    version = SimpleNamespace(hip=None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, version=version))
    return cuda


def test_the_allocator_is_read_once_the_device_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    memory = DeviceMemory(recorder)  # type: ignore[arg-type]
    cuda = a_gpu(monkeypatch, lambda device: STATS if device == 1 else {})
    assert memory.used() == {}
    memory.starts(cuda)
    told = {"index": 1, "name": "a device", "capability": "9.0", "memory_bytes": 10}
    assert recorder.facts == [("device", told)]
    assert memory.used() == reading(STATS)
    assert memory.used()["device_allocated_peak_bytes"] == 5
    assert reading({}) == {}


@pytest.mark.parametrize("stats", [{"allocated_bytes": {}}, None])
def test_a_fault_ends_the_reading_with_a_note(monkeypatch: pytest.MonkeyPatch, stats: Any) -> None:
    recorder = Recorder()
    memory = DeviceMemory(recorder)  # type: ignore[arg-type]

    def broken(device: int) -> Any:
        if stats is None:
            raise RuntimeError("CUDA error")
        return stats

    memory.starts(a_gpu(monkeypatch, broken))
    assert [memory.used(), memory.used()] == [{}, {}]
    assert len(recorder.notes) == 1 and "memory was not read" in recorder.notes[0]
