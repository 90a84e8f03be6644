"""Files that lie elsewhere, by their address (``s3://…``, ``gs://…``, ``https://…``), through the optional fsspec.

A remote file is fetched into a temporary folder where it is read and then removed, so that every reader, and whoever
reads on another machine, has an ordinary file. Whatever is said of it names its address.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ..errors import InputError, UsageError
from .source import BLOCK_BYTES, MAX_UNCOMPRESSED_BYTES, Progress, no_progress

_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")


@dataclass(frozen=True)
class RemoteFile:
    """The address of a file and its size, None where the other side does not tell."""

    url: str
    size_bytes: int | None


def is_remote(place: str | Path) -> bool:
    """Whether a place is an address rather than a path."""
    return isinstance(place, str) and _ADDRESS.match(place) is not None


def remote_files(url: str) -> list[RemoteFile]:
    """The file of an address, or all visible files in the folder of that address, by name.

    Raises:
        UsageError: fsspec, or what it needs for such addresses, is not installed.
        InputError: there is no such file, or the other side does not answer.
    """
    system, root = _opened(url)
    try:
        if system.isfile(root):
            return [RemoteFile(url, system.info(root).get("size"))]
        found: dict[str, dict[str, Any]] = system.find(root, detail=True)
    except Exception as error:
        raise _unreadable(url, error) from None
    files = [
        RemoteFile(system.unstrip_protocol(path), info.get("size"))
        for path, info in sorted(found.items())
        if not any(part.startswith(".") for part in PurePosixPath(path.removeprefix(root)).parts)
    ]
    if not files:
        raise InputError(f"{url} does not exist or holds no file: give trace files or folders of them")
    return files


@contextmanager
def fetched(url: str, *, progress: Progress = no_progress) -> Generator[Path]:
    """The file of an address as a local file, as long as the context lasts.

    Raises:
        UsageError: fsspec, or what it needs for such addresses, is not installed.
        InputError: it cannot be read, or what reads it says so: then of the address.
    """
    system, root = _opened(url)
    with tempfile.TemporaryDirectory(prefix="trainrx-") as folder:
        local = Path(folder) / (PurePosixPath(root).name or "trace")
        try:
            with system.open(root, "rb") as source, local.open("wb") as target:
                _copy(url, source, target, progress)
        except InputError:
            raise
        except Exception as error:
            raise _unreadable(url, error) from None
        try:
            yield local
        except InputError as error:
            raise InputError(str(error).replace(str(local), url)) from None


def _copy(url: str, source: Any, target: IO[bytes], progress: Progress) -> None:
    total, done = getattr(source, "size", None), 0
    while block := source.read(16 * BLOCK_BYTES):
        done += target.write(block)
        if done > MAX_UNCOMPRESSED_BYTES:
            raise InputError(f"{url} has more than {MAX_UNCOMPRESSED_BYTES >> 30} GiB: record fewer steps")
        progress(done, total if isinstance(total, int) else done)


def _opened(url: str) -> tuple[Any, str]:
    """The file system of an address, and the place in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(f"{url} is remote, which needs an extra: pip install 'trainrx[remote]'") from None
    try:
        return url_to_fs(url)
    except ImportError as error:
        raise UsageError(f"{url} cannot be opened here: {error}") from None
    except Exception as error:
        raise _unreadable(url, error) from None


def _unreadable(url: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{url} cannot be read: {reason[:300]}")
