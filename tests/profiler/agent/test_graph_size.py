"""The operations of a backward are counted without running it."""

from __future__ import annotations

import torch

from trainrx.profiler.agent.graph_size import WATCHED_BACKWARDS, GraphSize, count_operations


class _Folder:
    def __init__(self) -> None:
        self.facts: list[dict[str, object]] = []

    def fact(self, fact: str, **values: object) -> None:
        self.facts.append({"fact": fact, **values})


class _Recorder:
    def __init__(self) -> None:
        self.folder = _Folder()
        self.failed: list[BaseException] = []

    def fail(self, error: BaseException) -> None:
        self.failed.append(error)


def test_leaves_do_not_count_and_shared_parts_count_once() -> None:
    weight = torch.ones(3, requires_grad=True)
    shared = weight * 2
    loss = (shared.exp() + shared.sin()).sum()
    assert count_operations([loss.grad_fn]) == (5, 0)
    assert count_operations([None]) == (0, 0)


def test_a_loop_counts_every_turn() -> None:
    state = torch.zeros(2, requires_grad=True)
    for _ in range(100):
        state = state.tanh()
    assert count_operations([state.grad_fn]) == (100, 0)


def test_only_the_first_backwards_are_looked_at() -> None:
    recorder = _Recorder()
    size = GraphSize(recorder)  # type: ignore[arg-type]
    loss = torch.ones(2, requires_grad=True).sum()
    while size.is_watching:
        size.saw(loss)
    assert [fact["operations"] for fact in recorder.folder.facts] == [1] * WATCHED_BACKWARDS
    assert recorder.failed == []


def test_several_roots_and_none() -> None:
    recorder = _Recorder()
    size = GraphSize(recorder)  # type: ignore[arg-type]
    weight = torch.ones(2, requires_grad=True)
    size.saw([weight.sum(), (weight * 2).sum()])
    size.saw(None)
    assert [fact["operations"] for fact in recorder.folder.facts] == [3, 0]
