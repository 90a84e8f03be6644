"""Notes the value that each backward starts from: in trials only, to compare the losses of two runs.

Reading a value from a GPU would make the training wait, so values are read when recording ends.
"""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch.autograd"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap ``backward`` once more, outside of everything that changes it."""
    original = module.backward

    @wraps(original)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if recorder.thread == get_ident() or recorder.admits():
            recorder.note_loss(tensors)
        return original(tensors, *args, **kwargs)

    module.backward = backward
    recorder.skip_in_dynamo(backward)
