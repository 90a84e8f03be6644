"""``Optimizer.step`` and ``zero_grad``: optimizer spans, and with them the steps of the run."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import OPTIMIZER, ZERO_GRAD
from ..recorder import now
from ..timing import timed

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch.optim.optimizer"


def install(module: Any, recorder: Recorder) -> None:
    """Use torch's own step hooks, and wrap ``zero_grad``."""
    spans = recorder.spans
    open_steps: list[tuple[int, int, Any]] = []

    def before(optimizer: Any, args: Any, kwargs: Any) -> None:
        if recorder.thread != get_ident() and not recorder.admits() and not recorder.rebind():
            return
        start = now()
        try:
            number = recorder.number(optimizer, "optimizer", describe)
            recorder.update_begins(number, start)
        except Exception as error:
            recorder.fail(error)
            return
        open_steps.append((start, number, recorder.clock.begin() if recorder.clock.is_on else None))

    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        if recorder.thread != get_ident() or not open_steps:
            return
        end = now()
        try:
            start, number, begun = open_steps.pop()
            spans.append((OPTIMIZER, start, end, number))
            recorder.update_ends(number, end)
            if begun is not None:
                recorder.clock.end(OPTIMIZER, start, end, begun)
            if recorder.holdings.is_watching:
                recorder.holdings.saw(optimizer, number)
        except Exception as error:
            recorder.fail(error)

    zero_grad = timed(module.Optimizer.zero_grad, recorder, ZERO_GRAD)
    for hook in (before, after, zero_grad):
        # As `torch.compiler.disable` does, without importing the compiler.
        hook.__dict__["_torchdynamo_disable"] = True
    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)
    module.Optimizer.zero_grad = zero_grad


def describe(optimizer: Any) -> dict[str, Any]:
    """The optimizer's class, its flags and the size of what it updates."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    first = optimizer.param_groups[0] if optimizer.param_groups else {}
    return {
        "type": type(optimizer).__name__,
        "key": id(optimizer),
        "groups": len(optimizer.param_groups),
        "tensors": len(parameters),
        "parameters": sum(parameter.numel() for parameter in parameters),
        "dtypes": sorted({str(parameter.dtype).removeprefix("torch.") for parameter in parameters}),
        "devices": sorted({parameter.device.type for parameter in parameters}),
        **{flag: first.get(flag) for flag in ("foreach", "fused", "capturable", "differentiable")},
    }
