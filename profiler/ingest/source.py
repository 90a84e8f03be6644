"""Opens a file as a stream of its uncompressed bytes, within limits, so that no archive can fill the memory.

Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
BLOCK_BYTES = 1 << 22
MAX_UNCOMPRESSED_BYTES = 64 << 30
"""Beyond this a file is taken for a compression bomb; the largest traces reported by users are some 10 GB."""

Progress = Callable[[int, int], None]
"""Called with the bytes read of the file as it lies on disk, and its size."""


def no_progress(done_bytes: int, total_bytes: int) -> None:
    """Report to nobody."""


class Source:
    """A file being read: ``read`` gives its uncompressed bytes, ``damage`` says why they ended early, if
    they did.

    Raises:
        InputError: the file does not exist, is no file, or may not be read.
    """

    def __init__(self, path: Path, *, progress: Progress = no_progress) -> None:
        self.path = path
        self.damage: str | None = None
        self.read_bytes = 0
        self._progress = progress
        self._file = open_file(path)
        self._total = path.stat().st_size
        self._stream: BinaryIO = self._uncompressed()

    def _uncompressed(self) -> BinaryIO:
        magic = self._file.read(2)
        self._file.seek(0)
        return _gunzip(self._file) if magic == GZIP_MAGIC else self._file

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Up to ``size`` further bytes; empty at the end or where the compressed data is damaged."""
        if self.damage is not None:
            return b""
        try:
            block = self._stream.read(size)
        except _damage() as error:
            self.damage = f"the compressed data ends early or is damaged ({error})"
            return b""
        self.read_bytes += len(block)
        if self.read_bytes > MAX_UNCOMPRESSED_BYTES:
            raise InputError(
                f"{self.path} unpacks to more than {MAX_UNCOMPRESSED_BYTES >> 30} GiB: record fewer steps, or cut it with trainrx export"
            )
        self._progress(self._file.tell(), self._total)
        return block

    def read_all(self, *, limit_bytes: int) -> bytes:
        """All further bytes.

        Raises:
            InputError: there are more than ``limit_bytes``.
        """
        blocks: list[bytes] = []
        total = 0
        while block := self.read():
            blocks.append(block)
            total += len(block)
            if total > limit_bytes:
                raise InputError(
                    f"{self.path} unpacks to more than {limit_bytes >> 20} MiB, too large for its format: record a shorter window"
                )
        return b"".join(blocks)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        InputError: it does not exist, is no regular file, or may not be read.
    """
    if path.is_dir():
        raise InputError(
            f"{path} is a folder, a trace file was expected: give the file, or import the folder"
        )
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no regular file: copy its content to a file first")
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _damage() -> tuple[type[Exception], ...]:
    """What reading damaged data raises, with whichever library reads it."""
    try:
        from isal import igzip_lib, isal_zlib
    except ImportError:
        return (EOFError, OSError, ValueError, zlib.error)
    broken = cast(type[Exception], igzip_lib.IsalError)
    return (EOFError, OSError, ValueError, zlib.error, broken, cast(type[Exception], isal_zlib.error))


def _gunzip(file: BinaryIO) -> BinaryIO:
    try:
        from isal import igzip

        return cast(BinaryIO, igzip.GzipFile(fileobj=cast(io.BufferedReader, file), mode="rb"))
    except ImportError:
        return cast(BinaryIO, gzip.GzipFile(fileobj=file, mode="rb"))
