"""Writes checkpoints in a thread, from a copy of what was to be saved.

A script may copy, rename or read its checkpoint right after saving it. Python tells of such calls (PEP 578), and those
that touch the file wait until it is written; one that only asks for its size or whether it exists does not.
"""

from __future__ import annotations

import copy
import os
import sys
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any

from .site import loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            copied = None
            if isinstance(f, (str, os.PathLike)):
                self.wait()  # before the copy, so that there is one at a time
                copied = _copied(obj)
            if copied is None:
                original_save(obj, f, *args, **kwargs)
            else:
                self._start(original_save, (copied, f, *args), kwargs)

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
        pending = self._pending
        if pending is None or threading.current_thread() is self._thread:
            return
        touches = event in _ON_PATHS and any(_absolute(path) in pending for path in arguments[:2])
        if touches or event in _ON_PROGRAMS:
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


def _copied(obj: Any) -> Any:
    """A copy as `snapshot` makes it; None for what cannot be copied, or is nothing but None."""
    try:
        return snapshot(obj)
    except Exception:
        return None


def snapshot(obj: Any) -> Any:
    """A copy that later updates of the tensors do not reach, with tensors on the CPU.

    Tensors that share memory still do in the copy, so that it makes the same file.

    Raises:
        TypeError: it holds something else than tensors, numbers, texts, and mappings and lists of them.
    """
    parts = list(_parts(obj))
    odd = next((part for part in parts if not _is_plain(part)), None)
    if odd is not None:
        raise TypeError(f"{type(odd).__name__} is not copied")
    torch, storages = loaded("torch"), dict[tuple[str, int], Any]()
    tensors = {id(part): _on_cpu(torch, part, storages) for part in parts if isinstance(part, torch.Tensor)}
    return copy.deepcopy(obj, tensors)


def _parts(obj: Any) -> Iterator[Any]:
    """What lies in mappings and lists, however deep."""
    if isinstance(obj, dict) and type(obj).__module__ in ("builtins", "collections"):
        for value in obj.values():
            yield from _parts(value)
    elif type(obj) in (list, tuple):
        for part in obj:
            yield from _parts(part)
    else:
        yield obj


def _is_plain(part: Any) -> bool:
    torch = loaded("torch")
    if isinstance(part, torch.Tensor):
        in_memory = part.layout is torch.strided and not (part.is_quantized or part.is_meta)
        as_it_lies = not (part.is_conj() or part.is_neg() or vars(part))
        return type(part) in (torch.Tensor, torch.nn.Parameter) and in_memory and as_it_lies
    return isinstance(part, (int, float, str, bytes, bool, type(None)))


def _on_cpu(torch: Any, tensor: Any, storages: dict[tuple[str, int], Any]) -> Any:
    """The same view of a copy of the memory that it views; ``storages`` keeps those copies."""
    memory = tensor.untyped_storage()
    key = str(memory.device), memory.data_ptr()
    if key not in storages:
        storages[key] = torch.UntypedStorage(memory.nbytes()).copy_(memory)
    copied = torch.empty(0, dtype=tensor.dtype, device="cpu")
    copied.set_(storages[key], tensor.storage_offset(), tensor.size(), tensor.stride())
    if type(tensor) is torch.nn.Parameter:
        return torch.nn.Parameter(copied, requires_grad=tensor.requires_grad)
    return copied.requires_grad_(tensor.requires_grad)
