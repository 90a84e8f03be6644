"""Graphs of losses that live on are seen, and seeing them keeps none alive."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from trainrx.profiler.agent.kept_graphs import MAX_WATCHED, STEPS_BETWEEN, KeptGraphs

BACKWARDS = 2 * MAX_WATCHED * STEPS_BETWEEN


def shown(graphs: KeptGraphs, step: int, tensors: Any) -> None:
    """What the recorder does after a backward, if its background thread asked for one whenever it may."""
    graphs.watch(step)
    if graphs.is_due:
        graphs.ran(tensors)


def trained(keep: Any) -> dict[str, int]:
    """What is counted after a training that does something with each loss."""
    graphs = KeptGraphs()
    weight = torch.ones(4, requires_grad=True)
    for step in range(BACKWARDS):
        loss = (weight * torch.rand(4)).exp().sum()
        loss.backward()
        shown(graphs, step, loss)
        keep(loss)
    return graphs.counted()


def test_nothing_is_kept_where_losses_are_read_or_detached() -> None:
    values: list[Any] = []
    counted = trained(lambda loss: values.append(loss.detach()))
    assert counted == {"graphs_watched": MAX_WATCHED - 1, "graphs_kept": 0}


def test_a_list_of_losses_keeps_their_graphs() -> None:
    losses: list[Any] = []
    assert trained(losses.append)["graphs_kept"] == MAX_WATCHED - 1


def test_a_sum_of_losses_keeps_their_graphs() -> None:
    total = {"loss": torch.zeros(())}

    def add(loss: Any) -> None:
        total["loss"] = total["loss"] + loss

    assert trained(add)["graphs_kept"] == MAX_WATCHED - 1


def test_a_loss_that_is_scaled_before_its_backward_is_seen_to_be_kept() -> None:
    graphs, losses = KeptGraphs(), list[Any]()
    weight = torch.ones(4, requires_grad=True)
    for step in range(BACKWARDS):
        losses.append((weight * torch.rand(4)).exp().sum())
        scaled = losses[-1] / 2 * 1024.0
        scaled.backward()
        shown(graphs, step, [scaled])
        del scaled
    assert graphs.counted()["graphs_kept"] == MAX_WATCHED - 1


def test_the_node_of_a_parameter_lives_on_and_does_not_count() -> None:
    graphs, weight = KeptGraphs(), torch.ones((), requires_grad=True)
    for step in range(BACKWARDS):
        loss = weight * 2
        loss.backward()
        shown(graphs, step, loss)
        del loss
    assert graphs.counted() == {"graphs_watched": MAX_WATCHED - 1, "graphs_kept": 0}


def test_what_is_kept_for_some_steps_is_freed() -> None:
    recent: list[Any] = []

    def keep(loss: Any) -> None:
        recent.append(loss)
        del recent[:-STEPS_BETWEEN]

    assert trained(keep)["graphs_kept"] == 0


@pytest.mark.parametrize(
    "roots", [[], None, torch.zeros(()), [torch.zeros(())], [SimpleNamespace(grad_fn=object())]]
)
def test_roots_without_a_graph_are_left_out(roots: Any) -> None:
    graphs = KeptGraphs()
    for step in range(BACKWARDS):
        shown(graphs, step, roots)
    assert graphs.counted() == {}


def test_no_more_than_one_backward_is_watched_whenever_it_is_asked_for() -> None:
    graphs = KeptGraphs()
    graphs.watch(STEPS_BETWEEN - 1)
    assert not graphs.is_due
    graphs.watch(STEPS_BETWEEN)
    assert graphs.is_due
    graphs.ran(None)
    graphs.watch(STEPS_BETWEEN + 1)
    assert not graphs.is_due
