"""Writes checkpoints in a thread, from a copy of what was to be saved.

A script may copy, rename or read its checkpoint right after saving it. Python tells of such calls (PEP 578), and those
that touch the file wait until it is written; one that only asks for its size or whether it exists does not.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any

from .site import loaded

if TYPE_CHECKING:
    from .site import Site


#: Events of Python's auditing whose first one or two arguments are paths; see the table in its documentation.
_ON_PATHS = frozenset({
    "open", "os.link", "os.listdir", "os.remove", "os.rename", "os.scandir", "os.symlink", "os.truncate",
    "shutil.copyfile", "shutil.copytree", "shutil.make_archive", "shutil.move", "shutil.rmtree",
})  # fmt: skip
#: Another program may do anything to a file.
_ON_PROGRAMS = frozenset({"os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"})


class Saver:
    """Stands in for ``torch.save``; one file is written at a time, and the process ends after the last one."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._thread: threading.Thread | None = None
        #: The file that is being written, and its folder.
        self._pending: tuple[str, str] | None = None

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
        sys.addaudithook(self._on_event)

    def wait(self) -> None:
        """Until the last file is written."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._pending = None

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called by Python before it does what ``event`` says; it must not raise."""
        if self._pending is None or event not in _ON_PATHS | _ON_PROGRAMS:
            return
        if threading.current_thread() is self._thread:
            return
        if event in _ON_PROGRAMS or any(_absolute(path) in self._pending for path in arguments[:2]):
            self.wait()

    def _start(self, save: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        path = _absolute(args[1]) or ""
        self._thread = threading.Thread(target=save, args=args, kwargs=kwargs, name="checkpoint")
        self._pending = path, os.path.dirname(path)
        self._thread.start()
        self._site.applied("torch.save writes in a thread")


def _absolute(path: Any) -> str | None:
    """A path as it is compared here; None for what is no path, such as a file's number."""
    try:
        return os.path.abspath(os.fsdecode(path))
    except (TypeError, ValueError):
        return None


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
