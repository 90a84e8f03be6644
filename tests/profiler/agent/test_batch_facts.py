"""The first batches are looked at without touching anything but plain tensors."""

from __future__ import annotations

import collections
from typing import Any

import torch

from trainrx.profiler.agent import batch_facts
from trainrx.profiler.agent.batch_facts import BatchFacts, tensors_in


class Folder:
    def __init__(self) -> None:
        self.facts: list[dict[str, Any]] = []

    def fact(self, name: str, **values: Any) -> None:
        self.facts.append(values)


class Recorder:
    def __init__(self) -> None:
        self.folder = Folder()


class Touchy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a subclass was touched")


def test_tensors_are_found_in_what_loaders_give() -> None:
    x, y = torch.ones(2, 3), torch.ones(2, dtype=torch.int64)
    batch = [{"a": x, "b": ["text", 3]}, (y, None), collections.UserDict(c=x)]
    assert [id(tensor) for tensor in tensors_in(batch)] == [id(x), id(y), id(x)]
    assert tensors_in(torch.ones(1).as_subclass(Touchy)) == []
    assert tensors_in([[0.5] * 1000] * 1000) == []


def test_the_first_batches_are_told_and_no_more() -> None:
    recorder = Recorder()
    facts = BatchFacts(recorder)  # type: ignore[arg-type]
    while facts.is_watching:
        facts.saw((torch.ones(4, 3), torch.ones(4)), 1)
    assert recorder.folder.facts == [{"loader": 1, "bytes": 64, "tensors": 2}] * batch_facts.WATCHED_BATCHES
