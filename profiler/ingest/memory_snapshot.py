"""Reads CUDA memory snapshots (``torch.cuda.memory._dump_snapshot``) without trusting them.

A snapshot is a pickle of dicts, lists, strings and numbers. The unpickler here finds no class and no function
at all, so a file that asks for one is refused before anything of it runs.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .columns import I64
from .recordings import NO_CLOCK, MemoryRecording
from .source import Progress, Source, no_progress

FORMAT = "memory-snapshot"
LIMIT_BYTES = 2 << 30
_LARGEST = 1 << 62
_ALLOCATIONS = {"alloc": 1, "free_completed": -1, "free": -1}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        """Refuse every class and function."""
        raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> Any:
        """Refuse external objects."""
        raise pickle.UnpicklingError("it asks for an external object")


def read_memory_snapshot(path: Path, *, progress: Progress = no_progress) -> MemoryRecording:
    """Read a snapshot, plain or gzip.

    Raises:
        InputError: it is no snapshot, or holds anything but plain containers.
    """
    with Source(path, progress=progress) as source:
        snapshot = _plain(source.read_all(limit_bytes=LIMIT_BYTES), path)
    if not isinstance(snapshot, dict) or not isinstance(snapshot.get("segments"), list):
        raise InputError(f"{path} is a pickle but no CUDA memory snapshot: a dict with segments was expected")
    segments = [entry for entry in snapshot["segments"] if isinstance(entry, dict)]
    device, events = _busiest(snapshot.get("device_traces"))
    own = segments if device is None else [one for one in segments if one.get("device", device) == device]
    return _recording(path, own, events)


def _plain(content: bytes, path: Path) -> Any:
    """The pickled value. Lengths are checked first, for a pickle may ask for more memory than there is."""
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if (
                isinstance(argument, int)
                and opcode.name in ("PUT", "LONG_BINPUT")
                and argument > len(content)
            ):
                raise InputError(f"{path} is a damaged pickle: it numbers more values than it has bytes")
        return _PlainUnpickler(io.BytesIO(content)).load()
    except InputError:
        raise
    except pickle.UnpicklingError as error:
        raise InputError(f"{path} holds more than plain containers and was not opened: {error}") from None
    except MemoryError:
        raise InputError(f"{path} is a damaged pickle: it asks for more memory than there is") from None
    except Exception as error:
        raise InputError(f"{path} is a damaged pickle ({type(error).__name__})") from None


def _busiest(traces: Any) -> tuple[int | None, list[dict[str, Any]]]:
    """The device with most events, and these; None where no device has any."""
    events = [
        [entry for entry in trace if isinstance(entry, dict)] if isinstance(trace, list) else []
        for trace in (traces if isinstance(traces, list) else [])
    ]
    most = max(range(len(events)), key=lambda device: len(events[device]), default=None)
    return (None, []) if most is None or not events[most] else (most, events[most])


def _recording(path: Path, segments: list[dict[str, Any]], events: list[dict[str, Any]]) -> MemoryRecording:
    changes = [
        (event, _ALLOCATIONS[action])
        for event in events
        if isinstance(action := event.get("action"), str) and action in _ALLOCATIONS
    ]
    signed = np.array([_size(event.get("size")) * sign for event, sign in changes], dtype=np.int64)
    held = sum(_size(segment.get("allocated_size")) for segment in segments)
    before, level = _level(signed, held)
    times = _times([event for event, _ in changes])
    return MemoryRecording(
        source=str(path),
        format=FORMAT,
        time_s=times,
        allocated_bytes=level[: len(times)],
        peak_allocated_bytes=max(before, int(level.max(initial=0))),
        reserved_bytes=sum(_size(segment.get("total_size")) for segment in segments),
        reserved_in_use_bytes=held,
        notes=tuple(_notes(events, changes=len(changes), timed=len(times))),
    )


def _notes(events: list[dict[str, Any]], *, changes: int, timed: int) -> Iterator[str]:
    if not changes:
        yield "no allocation history was recorded: only the state at the end is known"
    elif not timed:
        yield NO_CLOCK
    failed = sum(event.get("action") == "oom" for event in events)
    if failed:
        yield f"{failed} allocation{'s' if failed > 1 else ''} failed for want of memory"


def _level(changes: I64, held: int) -> tuple[int, I64]:
    """Bytes allocated before the first change, and after each. A history may begin late, so it is laid out from its
    end, where ``held`` bytes are allocated, and lifted where it would otherwise free what was never there.
    """
    level = np.cumsum(changes)
    before = min(max(held - int(changes.sum()), -int(level.min(initial=0))), _LARGEST)
    return before, level + before


def _size(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 50 else 0


def _times(events: list[dict[str, Any]]) -> npt.NDArray[np.float64]:
    """Seconds since the first event; empty where not every event has a time."""
    stamps = [event.get("time_us") for event in events]
    known = [stamp for stamp in stamps if isinstance(stamp, int) and 0 <= stamp < 1 << 62]
    if len(known) < len(stamps):
        known = []
    return (np.array(known, dtype=np.float64) - min(known, default=0)) / 1e6
