"""A step that ends early has all ranks average the same gradients, whichever of them have one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from trainrx.profiler.agent.intervention.accumulation import _Accumulating
from trainrx.profiler.agent.knobs import ddp_no_sync


class Parallel(nn.Module):
    """Stands in for ``DistributedDataParallel``, with a part that this rank may not use."""

    def __init__(self) -> None:
        super().__init__()
        self.process_group = None
        self.used, self.unused = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.used(inputs).sum()


@pytest.mark.parametrize("elsewhere", [True, False])
def test_ranks_agree_on_which_gradients_to_average(monkeypatch: pytest.MonkeyPatch, elsewhere: bool) -> None:
    # GIVEN a rank whose second part has no gradient, and another one where it may have one, of all ones
    averaged: list[Any] = []

    def all_reduce(tensor: torch.Tensor, op: Any = None, group: Any = None) -> None:
        if op is dist.ReduceOp.MAX:
            tensor.clamp_(min=int(elsewhere))
        else:
            averaged.append(tensor.add_(1))

    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    monkeypatch.setattr(dist, "get_world_size", lambda group=None: 2)
    model = Parallel()
    accumulating = _Accumulating(model, micro_batches=2)

    # WHEN its step ends after one of two micro-batches
    model(torch.ones(1, 2)).backward()
    accumulating.end_step()

    # THEN it averages what any rank has, with zeros of its own, and nothing else
    assert len(averaged) == 1 + elsewhere
    assert model.used.weight.grad is not None and model.used.weight.grad.tolist() == [[1.0, 1.0]]
    own = model.unused.weight.grad
    assert (None if own is None else own.tolist()) == ([[0.5, 0.5]] if elsewhere else None)


def test_a_gradient_scaler_is_no_company_for_it() -> None:
    assert ddp_no_sync.applies({"world_size": 2, "precision": "bf16"}) is None
    reason = ddp_no_sync.applies({"world_size": 2, "precision": "fp16"})
    assert reason is not None and "scaler" in reason
