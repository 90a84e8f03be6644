"""What happened: records a run or reads a trace, lays out its timeline, finds its bottlenecks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .notebook import profile

__all__ = ["profile"]


def __getattr__(name: str) -> object:
    """Find `profile` when it is first asked for, so that importing this package loads nothing."""
    if name == "profile":
        from .notebook import profile

        return profile
    raise AttributeError(f"module {__name__} has no attribute {name}")
