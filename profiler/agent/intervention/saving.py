"""Writes checkpoints in a thread, from a copy of what was to be saved."""

from __future__ import annotations

import os
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any

from .site import loaded

if TYPE_CHECKING:
    from .site import Site


class Saver:
    """Stands in for ``torch.save``; one file is written at a time, and the process ends after the last one."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._thread: threading.Thread | None = None

    def take_over(self, module: Any) -> None:
        """Put itself in the place of ``torch.save`` and make ``torch.load`` wait."""
        original_save, original_load = module.save, module.load

        @wraps(original_save)
        def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
            if not isinstance(f, (str, os.PathLike)) or not _is_plain(obj):
                original_save(obj, f, *args, **kwargs)
                return
            self.wait()
            self._start(original_save, (snapshot(obj), f, *args), kwargs)

        @wraps(original_load)
        def load(*args: Any, **kwargs: Any) -> Any:
            self.wait()
            return original_load(*args, **kwargs)

        module.save, module.load = save, load

    def wait(self) -> None:
        """Until the last file is written."""
        if self._thread is not None:
            self._thread.join()

    def _start(self, save: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._thread = threading.Thread(target=save, args=args, kwargs=kwargs, name="checkpoint")
        self._thread.start()
        self._site.applied("torch.save writes in a thread")


def snapshot(obj: Any) -> Any:
    """A copy that later updates of the tensors do not reach; copies that were one tensor stay one."""
    return _copy(obj, {})


def _copy(obj: Any, seen: dict[int, Any]) -> Any:
    if isinstance(obj, loaded("torch").Tensor):
        if id(obj) not in seen:
            seen[id(obj)] = obj.detach().to("cpu", copy=True)
        return seen[id(obj)]
    if isinstance(obj, dict):
        copy = type(obj)()
        for key, value in obj.items():
            copy[key] = _copy(value, seen)
        return copy
    if type(obj) in (list, tuple):
        return type(obj)(_copy(part, seen) for part in obj)
    return obj


def _is_plain(obj: Any) -> bool:
    """Whether it is made of tensors, numbers, texts, and mappings and lists of them: then it can be copied."""
    torch = loaded("torch")
    if isinstance(obj, dict):
        return type(obj).__module__ in ("builtins", "collections") and all(map(_is_plain, obj.values()))
    if type(obj) in (list, tuple):
        return all(map(_is_plain, obj))
    return type(obj) is torch.Tensor or isinstance(
        obj, (torch.nn.Parameter, int, float, str, bytes, bool, type(None))
    )
