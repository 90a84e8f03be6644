"""``Module.__call__``: the outermost call is a forward span; calls inside it are not looked at."""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import FORWARD, IN_EVALUATION_MODE, IN_TRAINING, OF_NO_PARTS, WITHOUT_GRADIENTS
from ..recorder import now

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap the call of every module."""
    spans = recorder.spans
    base = module.nn.Module
    original = base.__call__
    gradients_are_on = module.is_grad_enabled

    @wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if recorder.inside or (recorder.thread != get_ident() and not recorder.admits()):
            return original(self, *args, **kwargs)
        recorder.inside = True
        if recorder.model_facts.is_watching and self.training and gradients_are_on():
            recorder.saw_call(self, args, kwargs)
        start = now()
        begun = recorder.clock.begin() if recorder.clock.is_on else None
        try:
            recorder.work_begins(start)
        except Exception as error:
            recorder.fail(error)
        try:
            return original(self, *args, **kwargs)
        finally:
            recorder.inside = False
            end = now()
            spans.append((FORWARD, start, end, _sort(self) if gradients_are_on() else WITHOUT_GRADIENTS))
            if begun is not None:
                recorder.clock.end(FORWARD, start, end, begun)

    base.__call__ = __call__
    recorder.skip_in_dynamo(__call__)


def _sort(module: Any) -> int:
    """Which sort of forward with gradients a call is."""
    if not module.training:
        return IN_EVALUATION_MODE
    return IN_TRAINING if module._parameters or module._modules else OF_NO_PARTS
