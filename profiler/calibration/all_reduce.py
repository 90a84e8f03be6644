"""The best all-reduce of two local processes over gloo: latency of a small one, bandwidth of a large one.

This process is the first rank and starts the second, which runs this file. The process group is made by hand, so that
nothing of ``torch.distributed``'s global state is touched.
"""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import torch.distributed

from .ceilings import Rate

_dist: Any = torch.distributed  # its classes for this are not among the names it exports
SMALL_BYTES = 4
LARGE_BYTES = 16 * 1024 * 1024
SMALL_REPEATS = 200
LARGE_REPEATS = 5
PATIENCE = timedelta(seconds=60)


def gloo_all_reduce() -> Rate:
    """Bytes of a large tensor over the time of its all-reduce, and the time of an all-reduce of one number.

    Raises:
        RuntimeError: the second process did not come, or gloo cannot connect on this machine.
    """
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        peer = subprocess.Popen(
            [sys.executable, "-m", __name__, str(store)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            latency_s, large_s = _measure(store, rank=0)
        finally:
            peer.kill()
            peer.wait()
    return Rate(name="gloo all-reduce, 2 processes", bytes_per_s=LARGE_BYTES / large_s, latency_s=latency_s)


def _measure(path: Path, *, rank: int) -> tuple[float, float]:
    """Both ranks do the same; returns the seconds of a small and of a large all-reduce."""
    gloo = _dist.ProcessGroupGloo
    options = gloo._Options()
    options._devices = [gloo.create_device(hostname="127.0.0.1")]
    options._timeout = PATIENCE
    group = gloo(_dist.FileStore(str(path), 2), rank, 2, options)
    small = _reduce_s(group, SMALL_BYTES, SMALL_REPEATS)
    return small, _reduce_s(group, LARGE_BYTES, LARGE_REPEATS)


def _reduce_s(group: Any, size: int, repeats: int) -> float:
    """The least wall seconds of an all-reduce of 32-bit floats."""
    tensor = torch.zeros(max(size // 4, 1))
    return min(_once(group, tensor) for _ in range(repeats))


def _once(group: Any, tensor: torch.Tensor) -> float:
    start = time.perf_counter()
    group.allreduce([tensor]).wait()
    return time.perf_counter() - start


if __name__ == "__main__":
    _measure(Path(sys.argv[1]), rank=1)
