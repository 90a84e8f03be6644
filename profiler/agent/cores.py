"""How many cores this process may use: those that it may run on, and the share of them that its container pays for.

A quota is not seen in the affinity: a container held to 4 CPUs on a machine of 64 cores may run on all of them, and is
stopped for the rest of each period once their 4 CPUs' worth of time is used up.
"""

from __future__ import annotations

import math
import os
from typing import Any

_CGROUPS = "/sys/fs/cgroup"
_OWN = "/proc/self/cgroup"
#: Where the first version of cgroups mounts its cpu controller.
_V1_MOUNTS = ("cpu,cpuacct", "cpu")
#: No such file is longer; groups lie no deeper.
_MAX_BYTES = 65_536
_MAX_DEPTH = 64


def describe() -> dict[str, Any]:
    """Cores that advice may count on, and the container's quota in cores; None where there is none."""
    held_to = quota()
    return {"cores": _usable(held_to), "quota_cores": held_to}


def usable() -> int | None:
    """Cores that this process may keep busy: the least of its affinity and its quota, rounded up."""
    return _usable(quota())


def affinity() -> int | None:
    """Cores that this process may run on; None where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def quota(cgroups: str = _CGROUPS, own: str = _OWN) -> float | None:
    """The smallest CPU quota of this process's control group and those around it, in cores; None without one.

    Source: the kernel's cgroup-v2.rst (``cpu.max``: quota and period in µs) and sched-bwc.rst (version 1).
    """
    found = [_v2(folder) for folder in _upwards(cgroups, _group(own, b""))]
    for mount in _V1_MOUNTS:
        found += [_v1(folder) for folder in _upwards(os.path.join(cgroups, mount), _group(own, b"cpu"))]
    return min((cores for cores in found if cores is not None), default=None)


def _usable(held_to: float | None) -> int | None:
    free = affinity()
    return free if held_to is None or free is None else min(free, max(math.ceil(held_to), 1))


def _group(own: str, controller: bytes) -> str:
    """Where the process lies below the mount of a controller; that of version 2 is the one without a name."""
    for line in _read(own).splitlines():
        _, _, named = line.partition(b":")
        controllers, _, path = named.partition(b":")
        if controller in controllers.split(b","):
            return os.fsdecode(path)
    return "/"


def _upwards(root: str, group: str) -> list[str]:
    """The folders from the root down to a group; the root alone for a group that lies outside what is mounted."""
    parts = [part for part in group.split("/") if part]
    if ".." in parts or "\0" in group or len(parts) > _MAX_DEPTH:
        parts = []
    return [os.path.join(root, *parts[:depth]) for depth in range(len(parts) + 1)]


def _v2(folder: str) -> float | None:
    words = _read(os.path.join(folder, "cpu.max")).split()
    return _cores(*words) if len(words) == 2 else None


def _v1(folder: str) -> float | None:
    microseconds = _read(os.path.join(folder, "cpu.cfs_quota_us")).strip()
    return _cores(microseconds, _read(os.path.join(folder, "cpu.cfs_period_us")).strip())


def _cores(microseconds: bytes, period: bytes) -> float | None:
    """Quota over period; what is no positive number (``max``, ``-1``) is no quota."""
    if not (microseconds.isdigit() and period.isdigit()) or max(len(microseconds), len(period)) > 18:
        return None
    return int(microseconds) / int(period) if int(microseconds) and int(period) else None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES)
    except (OSError, ValueError):
        return b""
