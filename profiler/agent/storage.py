"""Tells what a data set's files lie on: the kind of file system, from the paths that its attributes name.

Nothing is opened or called, only attributes of plain objects are looked at, a bounded number of them. A data set that
keeps its paths elsewhere, as in a closure, stays unknown.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePath
from typing import Any

#: How many attributes and items are looked at, and how many of one object.
MAX_PARTS, MAX_OF_ONE = 256, 64
#: No path is longer.
MAX_PATH = 4096
#: More than this of the table of mounts is not read.
MAX_MOUNTS_BYTES = 4_000_000
MOUNTS = "/proc/self/mountinfo"
_REMOTE = re.compile(r"(s3|gs|gcs|hf|https?|hdfs|abfss?|az|oss|r2|oci)://", re.IGNORECASE)
_ESCAPED = re.compile(rb"\\([0-7]{3})")
#: Objects whose attributes tell nothing of files.
_CLOSED = (type, bytes, bytearray, int, float, complex, set, frozenset)


def of_dataset(dataset: Any) -> str | None:
    """The file system's type as the kernel calls it (``ext4``, ``nfs4``, ``tmpfs``), or a remote scheme (``s3``).

    None where no path is found, or the system does not tell. Source: proc_pid_mountinfo(5).
    """
    for text in _texts(dataset):
        remote = _REMOTE.match(text)
        if remote is not None:
            return remote.group(1).lower()
        if _is_path(text):
            return file_system(text)
    return None


def file_system(path: str, mounts: str = MOUNTS) -> str | None:
    """The type of the file system that a path lies on: that of the innermost mount around it, the last one there."""
    try:
        real = os.fsencode(os.path.realpath(path))
        with open(mounts, "rb") as file:
            lines = file.read(MAX_MOUNTS_BYTES).splitlines()
    except (OSError, ValueError):
        return None
    innermost, found = -1, None
    for line in lines:
        mount, _, source = line.partition(b" - ")
        fields, kind = mount.split(b" "), source.split(b" ")[0]
        if len(fields) < 5 or not kind:
            continue
        point = _ESCAPED.sub(lambda code: bytes([int(code.group(1), 8) & 0xFF]), fields[4])
        if len(point) >= innermost and (real + b"/").startswith(point.rstrip(b"/") + b"/"):
            innermost, found = len(point), kind
    return None if found is None else found.decode("ascii", "replace")


def _is_path(text: str) -> bool:
    try:
        return 0 < len(text) <= MAX_PATH and os.path.exists(text)
    except (OSError, ValueError):
        return False


def _texts(dataset: Any) -> Iterator[str]:
    """Strings and paths among the attributes of a data set and of what it holds, the nearest first."""
    waiting, seen = deque[Any]([dataset]), set[int]()
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        part = waiting.popleft()
        if type(part) is str:
            yield part
        elif issubclass(type(part), PurePath):
            yield str(part)
        elif id(part) not in seen:
            seen.add(id(part))
            waiting.extend(_parts(part))


def _parts(part: Any) -> Iterator[Any]:
    """What an object holds; of a sequence the first item, for the files of a list mostly lie in one place."""
    if type(part) in (list, tuple):
        return islice(part, 1)
    if type(part) is dict:
        return islice(list(part.values()), MAX_OF_ONE)
    if issubclass(type(part), _CLOSED) or callable(part):
        return iter(())
    try:
        held = object.__getattribute__(part, "__dict__")  # not through a class's own `__getattr__`
    except AttributeError:
        return iter(())
    return islice(list(held.values()), MAX_OF_ONE)
