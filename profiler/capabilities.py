"""What can be measured on this machine, and if not, why."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .agent import cores


@dataclass(frozen=True)
class Capability:
    """One thing that can, or cannot, be measured here."""

    name: str
    available: bool
    detail: str


def capabilities() -> list[Capability]:
    """Check everything that trainrx can measure somewhere."""
    return [check() for check in (_recorder, _cores, _gpu, _nvml, _pyspy, _memory)]


def _recorder() -> Capability:
    try:
        found = version("torch")
    except PackageNotFoundError:
        return Capability(
            "recorder",
            False,
            f"torch is not installed for {sys.executable}; a script run by another Python is recorded",
        )
    return Capability("recorder", True, f"torch {found}, Python {platform.python_version()}")


def _cores() -> Capability:
    quota = cores.quota()
    limit = f", a container limit of {quota:g}" if quota is not None else ""
    return Capability("host", True, f"{cores.usable() or 1} usable cores{limit}")


def _gpu() -> Capability:
    try:
        import torch
    except ImportError:
        return Capability("GPU timing", False, "torch is not installed")
    if torch.cuda.is_available():
        return Capability("GPU timing", True, torch.cuda.get_device_name())
    if torch.version.cuda is None and torch.version.hip is None:
        return Capability("GPU timing", False, "this torch is a CPU build")
    return Capability("GPU timing", False, "torch sees no GPU")


def _nvml() -> Capability:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return Capability("GPU clocks, power, utilisation", False, f"NVML does not answer: {error}")
    count = int(pynvml.nvmlDeviceGetCount())
    pynvml.nvmlShutdown()
    return Capability("GPU clocks, power, utilisation", True, f"NVML sees {count} GPUs")


def _pyspy() -> Capability:
    name = "stacks of a running process (py-spy)"
    if sys.platform != "linux" or os.geteuid() == 0:
        return Capability(name, True, "permitted")
    scope = _ptrace_scope()
    if scope == 0:
        return Capability(name, True, "permitted")
    return Capability(
        name, False, f"ptrace is restricted (kernel.yama.ptrace_scope = {scope}) and this is not root"
    )


def _ptrace_scope() -> int | None:
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        return 0


def _memory() -> Capability:
    import psutil

    return Capability(
        "memory of the process tree", True, f"{psutil.virtual_memory().total / 2**30:.0f} GiB of RAM"
    )
