"""How much memory this process uses, and how much it may use; Linux only, elsewhere nothing is told."""

from __future__ import annotations

import os
from typing import Any

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
#: Limits of a process and the fields of ``/proc/self/statm`` that they count.
_OWN_LIMITS = (("RLIMIT_AS", "virtual_bytes"), ("RLIMIT_DATA", "data_bytes"))


def used() -> dict[str, int]:
    """Bytes of virtual, resident and data memory; empty where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return {}
    return {
        "virtual_bytes": pages[0] * _PAGE,
        "resident_bytes": pages[1] * _PAGE,
        "data_bytes": pages[5] * _PAGE,
    }


def private() -> dict[str, int]:
    """Bytes that this process shares with no other, those of no file, and all that are resident; else empty.

    The system walks all pages for it, which takes milliseconds for a large process: ask rarely.
    """
    try:
        with open("/proc/self/smaps_rollup", "rb") as file:
            lines = [line.split() for line in file.read().splitlines()[1:]]
    except OSError:
        return {}
    sizes = {words[0]: int(words[1]) * 1024 for words in lines if len(words) == 3 and words[1].isdigit()}
    if not {b"Rss:", b"Anonymous:", b"Private_Clean:", b"Private_Dirty:"} <= set(sizes):
        return {}
    return {
        "private_bytes": sizes[b"Private_Clean:"] + sizes[b"Private_Dirty:"],
        "anonymous_bytes": sizes[b"Anonymous:"],
        "resident_bytes": sizes[b"Rss:"],
    }


def limit() -> dict[str, Any]:
    """The limit that this process stands closest to, and which of its bytes count towards it."""
    limits = [*_own_limits(), *_machine_limits()]
    now = used()
    known = [(most, counted) for most, counted in limits if counted in now]
    if not known:
        return {}
    most, counted = min(known, key=lambda entry: entry[0] / max(now[entry[1]], 1))
    return {"memory_limit_bytes": most, "memory_counted": counted}


def _own_limits() -> list[tuple[int, str]]:
    try:
        import resource
    except ImportError:
        return []
    softs = [(resource.getrlimit(getattr(resource, name))[0], counted) for name, counted in _OWN_LIMITS]
    return [(soft, counted) for soft, counted in softs if soft != resource.RLIM_INFINITY]


def _machine_limits() -> list[tuple[int, str]]:
    found = [(os.sysconf("SC_PHYS_PAGES") * _PAGE, "resident_bytes")] if _PAGE else []
    for path in _CGROUP_LIMITS:
        try:
            with open(path, "rb") as file:
                found.append((int(file.read()), "resident_bytes"))
        except (OSError, ValueError):
            continue
    return found
