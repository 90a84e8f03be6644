"""The moment at which a rank's own gradients are there, by torch's real engine, before it waits for other ranks."""

from __future__ import annotations

from threading import get_ident
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from trainrx.profiler.agent.format import BACKWARD, GRADIENTS_READY
from trainrx.profiler.agent.hooks import backward
from trainrx.profiler.agent.recorder import now


def a_recorder(*, synchronises: bool) -> Any:
    def fail(error: BaseException) -> None:
        raise error

    return SimpleNamespace(
        spans=[],
        thread=get_ident(),
        inside=False,
        parallel=[object()],
        gradients_are_synchronised=lambda: synchronises,
        graph_size=SimpleNamespace(is_watching=False),
        kept_graphs=SimpleNamespace(is_due=False),
        clock=SimpleNamespace(is_on=False),
        work_begins=lambda start: None,
        skip_in_dynamo=lambda function: None,
        fail=fail,
    )


@pytest.mark.parametrize("synchronises", [True, False])
@pytest.mark.parametrize("as_list", [True, False])
def test_own_gradients_are_ready_before_the_wait_for_others(synchronises: bool, as_list: bool) -> None:
    # GIVEN a backward that, like data parallelism's, waits for others in a callback queued with the last gradient
    engine = torch.autograd.Variable._execution_engine
    waited: list[int] = []
    weight = torch.ones(3, requires_grad=True)
    weight.register_post_accumulate_grad_hook(lambda _: engine.queue_callback(lambda: waited.append(now())))
    recorder = a_recorder(synchronises=synchronises)
    module = SimpleNamespace(
        backward=torch.autograd.backward, grad=torch.autograd.grad, Variable=torch.autograd.Variable
    )
    backward.install(module, recorder)
    loss = (weight * 2).sum()
    # WHEN it runs
    module.backward([loss] if as_list else loss)
    # THEN the moment before that wait is noted once, within the backward, and whether it averages
    (ready,) = [span for span in recorder.spans if span[0] == GRADIENTS_READY]
    (whole,) = [span for span in recorder.spans if span[0] == BACKWARD]
    assert whole[1] <= ready[1] <= waited[0] <= whole[2]
    assert ready[3] == int(synchronises)
    assert weight.grad is not None and weight.grad.tolist() == [2.0, 2.0, 2.0]
    # AND nothing of it stays on the loss
    assert not loss._backward_hooks
