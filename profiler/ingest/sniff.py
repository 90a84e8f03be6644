"""Decides by content, never by name, which reader a file needs; a file of another kind is refused by what it
is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ..errors import InputError
from .columns import Trace
from .kineto import read_kineto
from .recordings import Recording
from .source import Progress, Source, no_progress

HEAD_BYTES = 1 << 16
Reader = Callable[..., Recording]
"""Readers are imported when needed: most need a library that the others do not."""

_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive (perhaps a model checkpoint): unpack it and import the trace inside"),
    (b"PAR1", "a Parquet table"),
    (b"\x93NUMPY", "a numpy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a PNG image"),
    (b"\x7fELF", "a program"),
    (b"%PDF", "a PDF document"),
    (b"BZh", "a bzip2 archive: unpack it first"),
    (b"\xfd7zXZ", "an xz archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive: unpack it first"),
    (b"NVDA", "an Nsight report"),
)
_NSYS_REPORT = "an Nsight Systems report: run nsys export --type sqlite on it and import the result"
_TEXT = re.compile(rb"^[\x09\x0a\x0d\x20-\x7e\x80-\xff]*$")
_MEMORY_ROW = re.compile(rb"^\s*\[\s*\[(\s*-?\d+\s*,){3}\s*-?\d+\s*\]")


def open_trace(path: Path, *, progress: Progress = no_progress) -> Recording:
    """Read any file that trainrx knows.

    Raises:
        InputError: it cannot be read, is damaged, or is of another kind, which the message names.
    """
    return _reader(path, _head(path))(path, progress=progress)


def open_timeline(path: Path, *, progress: Progress = no_progress) -> Trace:
    """Read a file that must be a timeline.

    Raises:
        InputError: as `open_trace`, and where the file is no timeline.
    """
    recording = open_trace(path, progress=progress)
    if isinstance(recording, Trace):
        return recording
    raise InputError(
        f"{path} is of format {recording.format}, a timeline (Kineto or Nsight Systems) was expected"
    )


def _head(path: Path) -> bytes:
    with Source(path) as source:
        head = b""
        while len(head) < HEAD_BYTES and (block := source.read(HEAD_BYTES - len(head))):
            head += block
        if not head:
            raise InputError(
                f"{path} is empty: nothing was recorded"
                if source.damage is None
                else f"{path}: {source.damage}"
            )
    return head


def _reader(path: Path, head: bytes) -> Reader:
    if head.startswith(b"SQLite format 3\x00"):
        from .nsight import read_nsight

        return read_nsight
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        from .memory_snapshot import read_memory_snapshot

        return read_memory_snapshot
    for magic, kind in _FOREIGN:
        if head.startswith(magic):
            raise InputError(f"{path} is {kind}; no trace")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"{", b"["):
        return _json_reader(path, text)
    return _other_reader(path, head)


def _json_reader(path: Path, text: bytes) -> Reader:
    if text.startswith(b"["):
        return _list_reader(text)
    if b'"traceEvents"' in text:
        return read_kineto
    if b'"rocprofiler-sdk-tool"' in text:
        raise InputError(
            f"{path} is rocprofiler-sdk JSON; no timeline that trainrx reads: "
            "record with torch.profiler, or convert it to a Chrome trace"
        )
    if re.search(rb'"schema"\s*:\s*"[\d.]+(-chakra[\d.]*)?"', text):
        from .execution_trace import read_execution_trace

        return read_execution_trace
    return read_kineto


def _list_reader(text: bytes) -> Reader:
    if _MEMORY_ROW.match(text) is None:
        return read_kineto
    from .memory_timeline import read_memory_timeline

    return read_memory_timeline


def _other_reader(path: Path, head: bytes) -> Reader:
    from .metric_csv import looks_like_metrics, read_metric_csv

    if looks_like_metrics(head.decode("utf-8", "replace")):
        return read_metric_csv
    if b"ustar" in head[257:263]:
        raise InputError(f"{path} is a tar archive; unpack it and import the traces inside")
    if b"NsightSystems" in head or b"QDSTRM" in head[:64]:
        raise InputError(f"{path} is {_NSYS_REPORT}")
    if _TEXT.match(head[:1024]):
        raise InputError(f"{path} is a text file that is neither JSON nor a CSV of metrics; no trace")
    raise InputError(f"{path} is a binary file of unknown kind; no trace that trainrx reads")
