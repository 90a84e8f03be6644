"""``autograd.backward`` and ``autograd.grad``: backward spans. Recomputed forwards inside them are backward time."""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import BACKWARD
from ..recorder import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..recorder import Recorder

MODULE = "torch.autograd"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap both entries into the autograd engine."""
    module.backward = _timed(module.backward, recorder)
    module.grad = _timed(module.grad, recorder)


def _timed(original: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    spans = recorder.spans

    @wraps(original)
    def backward(*args: Any, **kwargs: Any) -> Any:
        if recorder.inside or (recorder.thread != get_ident() and not recorder.admits()):
            return original(*args, **kwargs)
        recorder.inside = True
        start = now()
        try:
            recorder.work_begins(start)
        except Exception as error:
            recorder.fail(error)
        try:
            return original(*args, **kwargs)
        finally:
            recorder.inside = False
            spans.append((BACKWARD, start, now(), 0))

    recorder.skip_in_dynamo(backward)
    return backward
