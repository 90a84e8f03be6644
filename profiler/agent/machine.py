"""What the machine has that decides how fast a training can be; read once, from files that cost next to nothing."""

from __future__ import annotations

import os
import re
from typing import Any

_CPUINFO = "/proc/cpuinfo"
_NODES = "/sys/devices/system/node"
_SHARED_MEMORY = "/dev/shm"
#: The first core's entry lies within these bytes; the cores of a machine are taken to be alike.
_FIRST_CORE_BYTES = 8192
#: Instructions that multiply bf16 numbers (x86, ARM); without them bf16 is emulated and slower than fp32.
_BF16 = frozenset({"avx512_bf16", "amx_bf16", "bf16"})


def describe() -> dict[str, Any]:
    """Cores, NUMA nodes, bf16 units and shared memory; what the system does not tell is None."""
    return {
        "machine_cores": os.cpu_count(),
        "numa_nodes": numa_nodes(_NODES),
        "bf16": has_bf16(_CPUINFO),
        "shared_memory_bytes": shared_memory_bytes(_SHARED_MEMORY),
    }


def numa_nodes(folder: str) -> int | None:
    """How many NUMA nodes the machine has."""
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    return sum(re.fullmatch(r"node\d+", name) is not None for name in names) or None


def has_bf16(cpuinfo: str) -> bool | None:
    """Whether the processor multiplies bf16 numbers by itself; None where it does not list what it can."""
    try:
        with open(cpuinfo, encoding="ascii", errors="replace") as file:
            text = file.read(_FIRST_CORE_BYTES)
    except OSError:
        return None
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return None if flags is None else not _BF16.isdisjoint(flags.group(1).split())


def shared_memory_bytes(folder: str) -> int | None:
    """Size of the memory that loader workers hand batches over in."""
    try:
        size = os.statvfs(folder)
    except (OSError, AttributeError):
        return None
    return size.f_blocks * size.f_frsize
