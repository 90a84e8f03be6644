"""TorchDynamo's limit of versions of one function: once it is hit, that function runs as if it was not compiled."""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch._dynamo.convert_frame"
#: The check's name, and what it was called before PyTorch 2.6.
NAMES = ("exceeds_recompile_limit", "exceeds_cache_size_limit")


def install(module: Any, recorder: Recorder) -> None:
    """Look at what the check says; a torch that has none by these names tells nothing."""
    name = next((name for name in NAMES if hasattr(module, name)), None)
    if name is not None:
        setattr(module, name, _watched(getattr(module, name), recorder))


def _watched(original: Any, recorder: Recorder) -> Any:
    told: set[str] = set()

    @wraps(original)
    def exceeds(*args: Any, **kwargs: Any) -> Any:
        answer = original(*args, **kwargs)
        try:
            exceeded, limit = answer if isinstance(answer, tuple) else (answer, "cache_size_limit")
            if (
                exceeded
                and limit not in told
                and recorder.thread == get_ident()
                and recorder.folder is not None
            ):
                told.add(limit)
                recorder.folder.fact("recompile_limit", limit=str(limit))
        except Exception as error:
            recorder.fail(error)
        return answer

    return exceeds
