"""Puts a report where the user wants it, and never over a file that is none of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...profiler.errors import UsageError
from .blocks import Contents
from .html import MARK as HTML_MARK
from .html import html
from .markdown import MARK as MARKDOWN_MARK
from .markdown import markdown

Writer = Callable[[Contents], str]

#: How a file's name says what is to be written.
WRITERS: Mapping[str, Writer] = MappingProxyType(
    {".html": html, ".htm": html, ".md": markdown, ".markdown": markdown}
)
#: One of these stands within the first bytes of every report.
_MARKS = (HTML_MARK.encode(), MARKDOWN_MARK.encode())
_MARK_WITHIN_BYTES = 1024


@dataclass(frozen=True)
class Target:
    """A file to write a report to, that may be written as far as can be known before."""

    path: Path
    writer: Writer

    def write(self, contents: Contents) -> int:
        """Write the report in one piece; returns its size in bytes.

        Raises:
            UsageError: the disk refuses.
        """
        text = as_bytes(self.writer(contents))
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            temporary.write_bytes(text)
            temporary.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            raise UsageError(
                f"cannot write {self.path}: {error.strerror}: name another place with -o FILE"
            ) from None
        return len(text)


def target(path: Path, *, force: bool = False) -> Target:
    """Where to write, as HTML or Markdown by the name's suffix; ``force`` replaces any file.

    Raises:
        UsageError: the suffix is neither, or the file exists and is no report.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise UsageError(f"-o {path} is not a valid report file: its name must end in .html or .md")
    if os.path.isdir(path):  # noqa: PTH112  # a name that cannot be looked at is refused by the disk, in a sentence
        raise UsageError(f"-o {path} is a folder: name a file in it")
    if os.path.lexists(path) and not force and not is_report(path):
        raise UsageError(
            f"{path} exists and is no report of trainrx: name another file, or replace it with --force"
        )
    return Target(path, writer)


def is_report(path: Path) -> bool:
    """Whether a file was written here; one that cannot be read was not."""
    try:
        with path.open("rb") as file:
            beginning = file.read(_MARK_WITHIN_BYTES)
    except OSError:
        return False
    return any(mark in beginning for mark in _MARKS)


def as_bytes(text: str) -> bytes:
    """Text for a file; half a character, as torn file names have, becomes a question mark."""
    return text.encode("utf-8", "replace")
