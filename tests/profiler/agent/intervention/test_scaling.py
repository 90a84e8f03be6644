"""Scaled gradients are those of an unscaled run, whatever optimizers a script has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from trainrx.profiler.agent.intervention.scaling import Scaling


def a_scaling(site: Any) -> tuple[Scaling, Any]:
    """With a scale that changes whenever the scaler learns, and the backward that it has wrapped."""
    scaling = Scaling(site)
    scaling._scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)
    autograd = SimpleNamespace(backward=torch.autograd.backward)
    scaling.wrap_backward(autograd)
    return scaling, autograd.backward


def test_two_optimizers_of_one_backward_step_as_without_a_scale(site: Any) -> None:
    # GIVEN two parts of a model with an optimizer each, and a third one without gradients
    class Plain(torch.optim.SGD): ...

    scaling, backward = a_scaling(site)
    parts = [nn.Parameter(torch.ones(1)) for _ in range(3)]
    optimizers = [Plain([part], lr=1.0) for part in parts]
    for optimizer in optimizers:
        scaling.meet(optimizer, None)
    # WHEN all step after each backward, the second one after clipping
    for step in range(3):
        backward((2.0 * parts[0] + 3.0 * parts[1]).sum())
        scaling._unscale([parts[1]])
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        # THEN each has moved by its own gradient
        assert [part.item() for part in parts] == [1.0 - 2.0 * (step + 1), 1.0 - 3.0 * (step + 1), 1.0]


def test_an_infinite_gradient_leaves_the_step_out_and_lowers_the_scale(site: Any) -> None:
    class Plain(torch.optim.SGD): ...

    scaling, backward = a_scaling(site)
    part = nn.Parameter(torch.ones(1))
    optimizer = Plain([part], lr=1.0)
    scaling.meet(optimizer, None)
    for factor in (float("inf"), 1.0):
        backward((part * factor).sum())
        optimizer.step()
        optimizer.zero_grad()
    assert part.item() == 0.0 and scaling._scaler.get_scale() == 2.0


@pytest.mark.parametrize("calls_base", [False, True])
def test_a_class_of_optimizers_and_its_subclass_step_once(site: Any, calls_base: bool) -> None:
    # GIVEN an optimizer, and one of a subclass that inherits its step, or calls it
    class Base(torch.optim.SGD): ...

    class Inherits(Base): ...

    class Calls(Base):
        def step(self, closure: Any = None) -> Any:
            return super().step(closure)

    scaling, backward = a_scaling(site)
    parts = [nn.Parameter(torch.ones(1)) for _ in range(2)]
    optimizers = [Base([parts[0]], lr=1.0), (Calls if calls_base else Inherits)([parts[1]], lr=1.0)]
    for optimizer in optimizers:
        scaling.meet(optimizer, None)
    # WHEN both step THEN each does so once, with its gradient
    backward((2.0 * parts[0] + 3.0 * parts[1]).sum())
    for optimizer in optimizers:
        optimizer.step()
    assert [part.item() for part in parts] == [-1.0, -2.0]
