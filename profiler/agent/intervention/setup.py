"""Whether a knob makes sense in a run's setup: each answer is None, or the reason why it does not.

A fact that the setup does not tell forbids nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Setup = Mapping[str, Any]


def anywhere(setup: Setup) -> str | None:
    """A knob that every run can take."""
    return None


def needs_cuda(setup: Setup) -> str | None:
    """A knob for CUDA or ROCm devices."""
    kind = setup.get("device.kind")
    if kind is None or kind in ("cuda", "rocm"):
        return None
    return f"it acts on a CUDA device, and this run computes on {kind}"


def needs_loader(setup: Setup) -> str | None:
    """A knob for ``DataLoader``: `setup` tells its settings wherever one was met."""
    if "device.kind" in setup and not any(name.startswith("loader.") for name in setup):
        return "this run uses no torch.utils.data.DataLoader"
    return None


def needs_workers(setup: Setup) -> str | None:
    """A knob for loaders that have worker processes."""
    if setup.get("loader.num_workers") == 0:
        return "the loader has no worker processes (loader.num_workers is 0)"
    return needs_loader(setup)


def needs_ranks(setup: Setup) -> str | None:
    """A knob for training in more than one process."""
    size = setup.get("world_size")
    return None if size is None or size > 1 else "this run trains in one process (world_size is 1)"


def needs_torch(setup: Setup, least: str) -> str | None:
    """A knob that came with a version of PyTorch, such as ``2.6``."""
    version = setup.get("torch.version")
    if version is None or _numbers(str(version)) >= _numbers(least):
        return None
    return f"it needs torch {least} or later, and this run has {version}"


def needs_part(setup: Setup, part: str) -> str | None:
    """A knob for models with a certain part, such as ``conv``."""
    parts = setup.get("model.has")
    return None if parts is None or part in parts else f"the model has no {part}"


def _numbers(version: str) -> tuple[int, ...]:
    digits = version.partition("+")[0].split(".")[:2]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in digits)
