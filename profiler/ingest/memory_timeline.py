"""Reads the raw output of ``export_memory_timeline``: a list of ``[time_ns, action, bytes, category]``.

Bytes are signed: what frees or moves memory is negative, so that a running sum is the memory in use.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from ..errors import InputError
from .recordings import NO_CLOCK, MemoryRecording
from .source import Progress, Source, no_progress

FORMAT = "memory-timeline"
LIMIT_BYTES = 1 << 30
LARGEST_BYTES = 1 << 50


def read_memory_timeline(path: Path, *, progress: Progress = no_progress) -> MemoryRecording:
    """Read a raw memory timeline, plain or gzip.

    Raises:
        InputError: it is no list of such events.
    """
    with Source(path, progress=progress) as source:
        content = source.read_all(limit_bytes=LIMIT_BYTES)
    try:
        rows = msgspec.json.decode(content, type=list[tuple[int, int, int, int]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no raw memory timeline: {error}") from None
    if not rows:
        raise InputError(f"{path} is an empty list: it holds no memory events")
    return _recording(path, rows)


def _recording(path: Path, rows: list[tuple[int, int, int, int]]) -> MemoryRecording:
    sizes = [max(min(size, LARGEST_BYTES), -LARGEST_BYTES) for _, _, size, _ in rows]
    level = np.cumsum(np.array(sizes, dtype=np.int64))
    stamps = np.array([float(time) for time, *_ in rows])
    clock = stamps >= 0
    time_s = np.maximum(stamps - stamps[clock].min(), 0.0) / 1e9 if clock.any() else np.zeros(0)
    return MemoryRecording(
        source=str(path),
        format=FORMAT,
        time_s=time_s,
        allocated_bytes=level[: len(time_s)],
        peak_allocated_bytes=int(level.max()),
        notes=() if clock.any() else (NO_CLOCK,),
    )
