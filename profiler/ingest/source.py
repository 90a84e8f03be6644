"""Opens a file as a stream of its uncompressed bytes, within limits, so that no archive can fill the memory.

Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from ..errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31
"""The window size that tells zlib to expect a gzip header."""

BLOCK_BYTES = 1 << 18
"""Small enough to stay in the processor's cache until it is used."""

PACKED_BYTES = 1 << 18
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
        self._gunzip = Gunzip(self._file) if _starts_as_gzip(self._file) else None

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Up to ``size`` further bytes; empty at the end or where the compressed data is damaged."""
        if self.damage is not None:
            return b""
        block = self._block(size)
        self.read_bytes += len(block)
        if self.read_bytes > MAX_UNCOMPRESSED_BYTES:
            raise InputError(
                f"{self.path} unpacks to more than {MAX_UNCOMPRESSED_BYTES >> 30} GiB: record fewer steps"
            )
        self._progress(self._file.tell(), self._total)
        return block

    def _block(self, size: int) -> bytes:
        """Up to ``size`` bytes."""
        if self._gunzip is None:
            return self._file.read(size)
        try:
            return self._gunzip.read(size)
        except _damage() as error:
            self.damage = f"the compressed data ends early or is damaged ({error})"
            return b""

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
                    f"{self.path} unpacks to more than {limit_bytes >> 20} MiB, too large for its format: "
                    "record a shorter window"
                )
        return b"".join(blocks)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_file(path: Path) -> io.BufferedReader:
    """Open a regular file for reading.

    Raises:
        InputError: it does not exist, is no regular file, or may not be read.
    """
    try:
        if path.is_dir():
            raise InputError(
                f"{path} is a folder, a trace file was expected: give the file, or import the folder"
            )
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no regular file: copy its content to a file first")
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


class Gunzip:
    """Unpacks gzip members one after another, as they are read; unlike `gzip.open` it gives all before any
    damage.
    """

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._waiting = b""
        self._member: Decompressor = _decompressor()
        self._fresh = True

    def read(self, size: int) -> bytes:
        """At least one and at most ``size`` bytes; empty at the end.

        Raises:
            EOFError: the file ends within a member.
        """
        while True:
            if self._member.eof and not self._next_member():
                return b""
            packed = self._waiting or self._file.read(PACKED_BYTES)
            if not packed:
                if self._fresh:
                    return b""
                raise EOFError("the file ends within the data")
            self._fresh = False
            part = self._member.decompress(packed, size)
            self._waiting = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if part:
                return part

    def _next_member(self) -> bool:
        """Begin the next member, past padding; false if there is none."""
        self._waiting = (self._waiting or self._file.read(PACKED_BYTES)).lstrip(b"\0")
        if not self._waiting.startswith(GZIP_MAGIC):
            return False
        self._member, self._fresh = _decompressor(), True
        return True


class Decompressor(Protocol):
    """What `zlib.decompressobj` gives, and isal's like it."""

    eof: bool
    unused_data: bytes
    unconsumed_tail: bytes

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Unpack some data."""
        ...


def _decompressor() -> Decompressor:
    try:
        from isal import isal_zlib
    except ImportError:
        return cast(Decompressor, zlib.decompressobj(GZIP_WINDOW))
    return cast(Decompressor, isal_zlib.decompressobj(GZIP_WINDOW))


def _starts_as_gzip(file: io.BufferedReader) -> bool:
    magic = file.read(2)
    file.seek(0)
    return magic == GZIP_MAGIC
