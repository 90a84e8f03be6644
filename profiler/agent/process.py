"""Which process this is: a training rank, a loader worker, or something beside the training."""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import Any

from . import clock, cores, machine, memory


def loader_worker_id() -> int | None:
    """The number of this worker of a ``torch.utils.data.DataLoader``; None in any other process."""
    module = sys.modules.get("torch.utils.data._utils.worker")
    info = module.get_worker_info() if module is not None else None
    return None if info is None else int(info.id)


def _distributed() -> Any | None:
    module = sys.modules.get("torch.distributed")
    if module is not None and module.is_available() and module.is_initialized():
        return module
    return None


def rank() -> int | None:
    """The rank in the job, or None where the process belongs to no job."""
    distributed = _distributed()
    if distributed is not None:
        return int(distributed.get_rank())
    text = os.environ.get("RANK")
    return int(text) if text and text.isdigit() else None


def world_size() -> int:
    """The number of ranks of the job; 1 without one."""
    distributed = _distributed()
    if distributed is not None:
        return int(distributed.get_world_size())
    text = os.environ.get("WORLD_SIZE")
    return int(text) if text and text.isdigit() else 1


def local_world_size() -> int | None:
    """The ranks of the job on this machine; None where its launcher does not tell."""
    text = os.environ.get("LOCAL_WORLD_SIZE", "")
    if text.isdigit():
        return int(text)
    return 1 if world_size() == 1 else None


def core_wait_ns(thread: int | str) -> int:
    """Nanoseconds that a thread, by its native id, has waited for a free core so far; -1 if not known."""
    try:
        with open(f"/proc/self/task/{thread}/schedstat", "rb") as file:
            on_core, waited, _ = file.read().split()
    except (OSError, ValueError):
        return -1
    return int(waited) if int(on_core) else -1


def describe() -> dict[str, Any]:
    """Facts on this process and its machine, for the setup part of the report."""
    torch = sys.modules["torch"]
    # asking whether a GPU is available may start CUDA, which a fork after it would not survive
    started = bool(torch.cuda.is_initialized())
    return {
        "pid": os.getpid(),
        "parent_pid": os.getppid(),
        "rank": rank(),
        "local_rank": os.environ.get("LOCAL_RANK"),
        "world_size": world_size(),
        "local_world_size": local_world_size(),
        "argv": list(getattr(sys, "orig_argv", sys.argv)),
        "agent": os.path.dirname(os.path.abspath(__file__)),
        "library": os.path.dirname(os.__file__),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "platform": platform.platform(),
        **cores.describe(),
        "threads": torch.get_num_threads(),
        **machine.describe(),
        **memory.limit(),
        "accelerator": "rocm" if torch.version.hip else "cuda" if torch.version.cuda else None,
        "device_kind": "cpu" if not (torch.version.hip or torch.version.cuda) else None,
        "device_name": torch.cuda.get_device_name() if started else None,
        "clock": clock.identity(),
        "wall_time_ns": time.time_ns(),
        "perf_counter_ns": time.perf_counter_ns(),
    }
