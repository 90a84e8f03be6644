"""Exchanges gradients once per optimizer step where a script accumulates them over micro-batches.

``DistributedDataParallel`` decides in its forward whether the backward after it exchanges gradients; this sets the
same switch that ``no_sync()`` sets. A step that ends early, such as the last one of an epoch, has its gradients
averaged before the optimizer reads them, so that ranks never drift apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parallel import MODULE, NAME

if TYPE_CHECKING:
    from .site import Site

_SWITCH = "require_backward_grad_sync"


class OneExchangePerStep:
    """Counts forwards between optimizer steps."""

    def __init__(self, site: Site, micro_batches: int) -> None:
        self._site = site
        self._micro_batches = micro_batches
        self._models: list[_Accumulating] = []

    def take_over(self) -> None:
        """Meet every ``DistributedDataParallel`` that is made."""
        self._site.on_constructed(MODULE, NAME, self._meet)
        self._site.before_step(self._before_step)

    def _meet(self, model: Any) -> None:
        self._models.append(_Accumulating(model, self._micro_batches))
        self._site.applied(
            f"{NAME}: exchanges gradients with every {self._micro_batches}th forward of a step"
        )

    def _before_step(self, optimizer: Any) -> None:
        for model in self._models:
            model.end_step()


class _Accumulating:
    """One model: which of its forwards since the last step is running."""

    def __init__(self, model: Any, micro_batches: int) -> None:
        self._model = model
        self._micro_batches = micro_batches
        self._forwards = 0
        model.register_forward_pre_hook(self._before_forward)

    def _before_forward(self, model: Any, args: Any) -> None:
        import torch

        if torch.is_grad_enabled() and model.training:
            self._forwards += 1
            setattr(model, _SWITCH, self._forwards % self._micro_batches == 0)

    def end_step(self) -> None:
        """Average what was not exchanged; the next forward begins a step."""
        if self._forwards % self._micro_batches:
            self._average()
        self._forwards = 0
        setattr(self._model, _SWITCH, True)

    def _average(self) -> None:
        """Every rank takes part for each parameter that has a gradient on any of them, as in a backward."""
        import torch
        import torch.distributed as dist

        group = self._model.process_group
        parameters = [one for one in self._model.parameters() if one.requires_grad]
        if not parameters:
            return
        own = [int(one.grad is not None) for one in parameters]
        on_any = torch.tensor(own, dtype=torch.int32, device=parameters[0].device)
        dist.all_reduce(on_any, op=dist.ReduceOp.MAX, group=group)
        for parameter, has_gradient in zip(parameters, on_any.tolist()):  # noqa: B905 - Python 3.9
            if has_gradient:
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                dist.all_reduce(parameter.grad, group=group)
                parameter.grad /= dist.get_world_size(group)
