"""Scales losses before backward and gradients before the update, as ``torch.amp.GradScaler`` is meant to be used."""

from __future__ import annotations

import weakref
from functools import wraps
from typing import TYPE_CHECKING, Any

from .site import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from .site import Site


#: On the steps that are wrapped; subclasses inherit it, and torch's own wrapper around a step takes it over.
_MARK = "_trainrx_scales"


class Scaling:
    """One scaler for all optimizers of a process.

    It learns from the steps of all of them at once, before the next loss is scaled: until then gradients of an
    optimizer that is still to step have the scale that they were made with.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._scaler: Any = None
        self._unscaled: set[int] = set()
        self._stepping: set[int] = set()
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()

    def wrap_backward(self, autograd: Any) -> None:
        """Scale what backward starts from."""
        original = autograd.backward

        @wraps(original)
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            if grad_tensors is None and _is_scalar(tensors):
                tensors = self._ready(tensors).scale(tensors)
            return original(tensors, grad_tensors, *args, **kwargs)

        autograd.backward = backward

    def meet(self, optimizer: Any, arguments: Any) -> None:
        """Let the scaler step this optimizer, from its construction on."""
        self._optimizers.add(optimizer)
        kind = type(optimizer)
        original = kind.step
        if hasattr(original, _MARK):  # its own, or what it inherits
            return

        @wraps(original)
        def step(optimizer: Any, closure: Any = None) -> Any:
            if self._scaler is None or closure is not None or id(optimizer) in self._stepping:
                return original(optimizer) if closure is None else original(optimizer, closure)
            return self._step(optimizer, original)

        setattr(step, _MARK, True)
        kind.step = step

    def _step(self, optimizer: Any, original: Callable[[Any], Any]) -> Any:
        """Step unless a gradient is infinite; a step that calls the one of its base class is one."""
        self._take_off(optimizer)
        found = self._scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        if any(value.item() for value in found.values()):
            return None
        self._stepping.add(id(optimizer))
        try:
            return original(optimizer)
        finally:
            self._stepping.discard(id(optimizer))

    def _take_off(self, optimizer: Any) -> None:
        """Take the scale off an optimizer's gradients, once for each backward."""
        if id(optimizer) not in self._unscaled:
            self._unscaled.add(id(optimizer))
            self._scaler.unscale_(optimizer)

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
            if self._scaler is not None and wanted & held:
                self._take_off(optimizer)

    def _ready(self, loss: Any) -> Any:
        """The scaler, which has learned from the steps since the loss before."""
        if self._scaler is None:
            self._scaler = loaded("torch").amp.GradScaler(loss.device.type)
            self._site.applied("losses are scaled before backward")
        elif self._unscaled:
            states = self._scaler._per_optimizer_states
            if any(state["found_inf_per_device"] for state in states.values()):
                self._scaler.update()
            states.clear()  # of optimizers without gradients too, from which there is nothing to learn
            self._unscaled.clear()
        return self._scaler


def scale_gradients(site: Site) -> None:
    """Put a scaler between the script's losses and its optimizers."""
    scaling = Scaling(site)
    site.on_construction("torch.optim.optimizer", ("Optimizer",), scaling.meet)
    site.when_imported("torch.autograd", scaling.wrap_backward)
    site.when_imported("torch", scaling.wrap_clipping)


def _is_scalar(tensors: Any) -> bool:
    return hasattr(tensors, "dim") and tensors.numel() == 1
