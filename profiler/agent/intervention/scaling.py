"""Scales losses before backward and gradients before the update, as ``torch.amp.GradScaler`` is meant to be used."""

from __future__ import annotations

import weakref
from functools import wraps
from typing import TYPE_CHECKING, Any

from .site import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from .site import Site


class Scaling:
    """One scaler for all optimizers of a process."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._scaler: Any = None
        self._stepped: set[type] = set()
        self._unscaled: set[int] = set()
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()

    def wrap_backward(self, autograd: Any) -> None:
        """Scale what backward starts from."""
        original = autograd.backward

        @wraps(original)
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            if grad_tensors is None and _is_scalar(tensors):
                tensors = self._of(tensors).scale(tensors)
            return original(tensors, grad_tensors, *args, **kwargs)

        autograd.backward = backward

    def meet(self, optimizer: Any, arguments: Any) -> None:
        """Let the scaler step this optimizer, from its construction on."""
        self._optimizers.add(optimizer)
        kind = type(optimizer)
        if kind in self._stepped:
            return
        self._stepped.add(kind)
        original = kind.step

        @wraps(original)
        def step(optimizer: Any, closure: Any = None) -> Any:
            if self._scaler is None or closure is not None:
                return original(optimizer) if closure is None else original(optimizer, closure)
            return self._step(optimizer, original)

        kind.step = step

    def _step(self, optimizer: Any, original: Callable[[Any], Any]) -> Any:
        """Step unless a gradient is infinite, and let the scaler learn from it."""
        if id(optimizer) not in self._unscaled:
            self._scaler.unscale_(optimizer)
        self._unscaled.discard(id(optimizer))
        found = self._scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        result = None if any(value.item() for value in found.values()) else original(optimizer)
        if found:
            self._scaler.update()
        return result

    def wrap_clipping(self, torch: Any) -> None:
        """Take the scale off before the script looks at the size of gradients."""
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            original = getattr(torch.nn.utils, name)
            setattr(torch.nn.utils, name, self._after_unscaling(original))

    def _after_unscaling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            kept = [parameters] if hasattr(parameters, "grad") else list(parameters)
            self._unscale(kept)
            return original(kept, *args, **kwargs)

        return clip

    def _unscale(self, parameters: list[Any]) -> None:
        """Unscale the gradients of the optimizers that hold these parameters."""
        wanted = {id(parameter) for parameter in parameters}
        for optimizer in list(self._optimizers):
            held = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
            if self._scaler is not None and wanted & held and id(optimizer) not in self._unscaled:
                self._scaler.unscale_(optimizer)
                self._unscaled.add(id(optimizer))

    def _of(self, tensor: Any) -> Any:
        if self._scaler is None:
            self._scaler = loaded("torch").amp.GradScaler(tensor.device.type)
            self._site.applied("losses are scaled before backward")
        return self._scaler


def scale_gradients(site: Site) -> None:
    """Put a scaler between the script's losses and its optimizers."""
    scaling = Scaling(site)
    site.on_construction("torch.optim.optimizer", ("Optimizer",), scaling.meet)
    site.when_imported("torch.autograd", scaling.wrap_backward)
    site.when_imported("torch", scaling.wrap_clipping)


def _is_scalar(tensors: Any) -> bool:
    return hasattr(tensors, "dim") and tensors.numel() == 1
