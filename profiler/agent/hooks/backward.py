"""``autograd.backward`` and ``autograd.grad``: backward spans. Recomputed forwards inside them are backward time.

Under data parallelism a backward ends only when the gradients of all ranks are averaged. There the moment at which this
rank's own gradients were ready is noted too: what comes after it is waiting for others.
"""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..format import BACKWARD, GRADIENTS_READY
from ..recorder import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..recorder import Recorder

MODULE = "torch.autograd"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap both entries into the autograd engine."""
    module.backward = _timed(module.backward, recorder, module)
    module.grad = _timed(module.grad, recorder, module)


def _timed(original: Callable[..., Any], recorder: Recorder, autograd: Any) -> Callable[..., Any]:
    spans = recorder.spans

    @wraps(original)
    def backward(*args: Any, **kwargs: Any) -> Any:
        if recorder.inside or (recorder.thread != get_ident() and not recorder.admits()):
            return original(*args, **kwargs)
        recorder.inside = True
        is_looked_at = recorder.parallel or recorder.graph_size.is_watching
        watched = _look(args, kwargs, recorder, autograd) if is_looked_at else None
        start = now()
        begun = recorder.clock.begin() if recorder.clock.is_on else None
        try:
            recorder.work_begins(start)
        except Exception as error:
            recorder.fail(error)
        try:
            return original(*args, **kwargs)
        finally:
            recorder.inside = False
            end = now()
            spans.append((BACKWARD, start, end, 0))
            if begun is not None:
                recorder.clock.end(BACKWARD, start, end, begun)
            if watched is not None:
                watched.remove()
            if recorder.kept_graphs.is_due:
                _has_run(args, kwargs, recorder)

    recorder.skip_in_dynamo(backward)
    return backward


def _roots(args: Any, kwargs: Any) -> Any:
    """The tensor or tensors that a backward starts from."""
    return args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))


def _look(args: Any, kwargs: Any, recorder: Recorder, autograd: Any) -> Any:
    """Look at what the engine is about to run; returns a handle to remove once it has, or None."""
    roots = _roots(args, kwargs)
    try:
        if recorder.graph_size.is_watching:
            recorder.graph_size.saw(roots)
        return _watch_gradients(roots, recorder, autograd) if recorder.parallel else None
    except Exception as error:
        recorder.fail(error)
        return None


def _has_run(args: Any, kwargs: Any, recorder: Recorder) -> None:
    try:
        recorder.kept_graphs.ran(_roots(args, kwargs))
    except Exception as error:
        recorder.fail(error)


def _watch_gradients(roots: Any, recorder: Recorder, autograd: Any) -> Any:
    """Have the engine tell when it has run its graph, before it waits for other ranks; returns the handle to remove.

    The engine runs final callbacks in the order they are queued. Data parallelism queues its wait when the last
    gradient is there; a hook on the loss, which runs first of all, queues ours before it.
    """
    root: Any = next(iter(roots), None) if isinstance(roots, (list, tuple)) else roots
    if getattr(root, "grad_fn", None) is None:
        return None
    synchronises = 1 if recorder.gradients_are_synchronised() else 0

    def note() -> None:
        recorder.spans.append((GRADIENTS_READY, now(), now(), synchronises))

    def queue(_: Any) -> None:
        autograd.Variable._execution_engine.queue_callback(note)

    return root.register_hook(queue)
