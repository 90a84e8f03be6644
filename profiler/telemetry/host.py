"""The host while a run goes on: cores, load, memory of the process tree, shared memory, swap, disk, CPU quota."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psutil

from .source import Reading

SHARED_MEMORY = "/dev/shm"
CGROUP_CPU = Path("/sys/fs/cgroup/cpu.stat")
THERMAL_EVENTS = "cpu*/thermal_throttle/core_throttle_count"
CPUS = Path("/sys/devices/system/cpu")
#: Values that change slowly are read once in so many readings.
SLOW_EVERY = 10


class HostSource:
    """Reads the host through psutil; every counter is cumulative, so that a lost reading loses nothing.

    A reading has, but for the first, ``cores_busy`` (cores' worth of work on the whole machine since the one before)
    and, of the process tree, ``processes``, ``rss_bytes``, ``tree_cpu_s``, ``read_bytes``, ``written_bytes``; now and
    then also ``load`` (one minute), ``available_bytes``, ``swap_bytes``, ``shared_bytes`` (``/dev/shm``) and, where the
    system tells, ``clock_mhz`` with ``clock_max_mhz``, ``thermal_events``, ``quota_periods``,
    ``quota_throttled_periods`` and ``quota_throttled_s``.
    """

    name = "host"

    def __init__(self) -> None:
        self.absence: str | None = None
        self._processes: dict[int, psutil.Process] = {}
        self._count = 0
        self._gone_cpu_s = 0.0
        self._last_cpu_s: dict[int, float] = {}

    def read(self, pids: Sequence[int]) -> Reading:
        """What the host and the processes show now."""
        # psutil counts from this thread's call before; from the first call on nothing has been counted yet
        cores_busy = round(psutil.cpu_percent(interval=None) / 100 * (psutil.cpu_count() or 1), 3)
        reading: Reading = {**({"cores_busy": cores_busy} if self._count else {}), **self._tree(pids)}
        if self._count % SLOW_EVERY == 0:
            reading |= _slow()
        self._count += 1
        return reading

    def close(self) -> None:
        """Nothing is held."""

    def _tree(self, pids: Sequence[int]) -> Reading:
        """Sums over the processes; those that end between two readings are left out of all but the CPU time."""
        totals = {"rss_bytes": 0, "read_bytes": 0, "written_bytes": 0}
        cpu_s: dict[int, float] = {}
        for pid in pids:
            try:
                process = self._process(pid)
                with process.oneshot():
                    times = process.cpu_times()
                    cpu_s[pid] = float(times.user + times.system)
                    totals["rss_bytes"] += process.memory_info().rss
                    disk = process.io_counters()
                    totals["read_bytes"] += disk.read_bytes
                    totals["written_bytes"] += disk.write_bytes
            except (psutil.Error, AttributeError, OSError):
                continue
        self._gone_cpu_s += sum(used for pid, used in self._last_cpu_s.items() if pid not in cpu_s)
        self._last_cpu_s = cpu_s
        total_s = sum(cpu_s.values()) + self._gone_cpu_s
        return {"processes": len(cpu_s), "tree_cpu_s": round(total_s, 2), **totals}

    def _process(self, pid: int) -> psutil.Process:
        if pid not in self._processes:
            self._processes[pid] = psutil.Process(pid)
        return self._processes[pid]


def _slow() -> Reading:
    reading: Reading = {
        "load": round(psutil.getloadavg()[0], 2),
        "available_bytes": psutil.virtual_memory().available,
        "swap_bytes": psutil.swap_memory().used,
    }
    if Path(SHARED_MEMORY).is_dir():
        reading["shared_bytes"] = psutil.disk_usage(SHARED_MEMORY).used
    return reading | _clock() | _thermal_events() | _quota()


def _clock() -> Reading:
    """The cores' mean clock, where the system also tells what it could be."""
    try:
        clock = psutil.cpu_freq()
    except (OSError, NotImplementedError, AttributeError):
        return {}
    if clock is None or not clock.max or not clock.current:  # pyright: ignore[reportUnnecessaryComparison]
        return {}
    return {"clock_mhz": round(clock.current), "clock_max_mhz": round(clock.max)}


def _thermal_events() -> Reading:
    """How often the cores were slowed for heat since the machine started."""
    counts: list[int] = []
    for path in CPUS.glob(THERMAL_EVENTS):
        try:
            counts.append(int(path.read_text()))
        except (OSError, ValueError):
            continue
    return {"thermal_events": sum(counts)} if counts else {}


def _quota() -> Reading:
    """How often a container used its CPU quota up (cgroup v2); empty where none is set."""
    try:
        pairs = dict(line.split() for line in CGROUP_CPU.read_text().splitlines())
        periods, throttled = int(pairs["nr_periods"]), int(pairs["nr_throttled"])
        throttled_s = int(pairs["throttled_usec"]) / 1e6
    except (OSError, ValueError, KeyError):
        return {}
    if not periods:
        return {}
    return {
        "quota_periods": periods,
        "quota_throttled_periods": throttled,
        "quota_throttled_s": round(throttled_s, 3),
    }
