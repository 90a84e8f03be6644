"""``torch.save``: checkpoint spans."""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import CHECKPOINT
from ..recorder import now
from ..tracebacks import unseen

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch.serialization"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap ``torch.save``; saving before the first step claims no rank folder."""
    spans = recorder.spans
    original = module.save

    @wraps(original)
    def save(*args: Any, **kwargs: Any) -> Any:
        if recorder.thread != get_ident():
            return original(*args, **kwargs)
        start = now()
        try:
            return original(*args, **kwargs)
        finally:
            spans.append((CHECKPOINT, start, now(), 0))

    unseen(save)
    module.save = save
