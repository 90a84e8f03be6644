"""The best rates of moving bytes: within memory, from host to device, to and from the disk of the runs folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from .ceilings import Rate

MEMORY_BYTES = 128 * 1024 * 1024
DISK_BYTES = 64 * 1024 * 1024
#: So much must be free beyond what is written.
SPARE_BYTES = 512 * 1024 * 1024
REPEATS = 4


def memory_copy() -> Rate:
    """Copying one large tensor onto another with all threads; a byte counts twice, for it is read and written."""
    source, target = (torch.zeros(MEMORY_BYTES, dtype=torch.uint8) for _ in range(2))
    seconds = _best(lambda: target.copy_(source))
    return Rate(name="memory copy", bytes_per_s=2 * MEMORY_BYTES / seconds)


def host_to_device() -> Iterator[Rate]:
    """Copying to the first device, from pinned and from pageable memory; nothing where there is no device."""
    if not torch.cuda.is_available():
        return
    target = torch.zeros(MEMORY_BYTES, dtype=torch.uint8, device="cuda")
    for name, pinned in (("host to device, pinned", True), ("host to device, pageable", False)):
        source = torch.zeros(MEMORY_BYTES, dtype=torch.uint8, pin_memory=pinned)

        def copy(source: torch.Tensor = source) -> None:
            target.copy_(source)
            torch.cuda.synchronize()

        yield Rate(name=name, bytes_per_s=MEMORY_BYTES / _best(copy))


def disk(folder: Path) -> Iterator[Rate]:
    """Writing a file through to the disk, and reading it back with the system's cache of it dropped.

    Raises:
        OSError: the folder cannot be written, or too little space is free.
    """
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize if hasattr(os, "statvfs") else None
    if free is not None and free < DISK_BYTES + SPARE_BYTES:
        raise OSError(f"only {free >> 20} MB are free in {folder}")
    path = folder / f".calibration-{os.getpid()}"
    try:
        yield Rate(name="disk write", bytes_per_s=DISK_BYTES / _write(path))
        yield Rate(name="disk read", bytes_per_s=DISK_BYTES / _read(path))
    finally:
        path.unlink(missing_ok=True)


def _write(path: Path) -> float:
    block = os.urandom(1024 * 1024)
    start = time.perf_counter()
    with path.open("wb") as file:
        for _ in range(DISK_BYTES // len(block)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - start


def _read(path: Path) -> float:
    with path.open("rb", buffering=0) as file:
        if hasattr(os, "posix_fadvise"):
            with contextlib.suppress(OSError):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        block = bytearray(1024 * 1024)
        start = time.perf_counter()
        while file.readinto(block):
            pass
        return time.perf_counter() - start


def _best(action: Callable[[], object]) -> float:
    """The least wall seconds of a few repeats."""
    action()
    return min(_timed(action) for _ in range(REPEATS))


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
