"""A timing wrapper for functions whose calls on the training thread are a span each."""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .recorder import now
from .tracebacks import unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from .recorder import Recorder


def timed(original: Callable[..., Any], recorder: Recorder, code: int) -> Any:
    """``original``, its calls on the training thread recorded as spans of ``code``; it never claims a rank folder."""
    spans = recorder.spans

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if recorder.thread != get_ident():
            return original(*args, **kwargs)
        start = now()
        try:
            return original(*args, **kwargs)
        finally:
            spans.append((code, start, now(), 0))

    unseen(call)
    return call
