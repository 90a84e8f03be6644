"""Switches of the environment that slow a training down, or say how many threads it has; only those that are set."""

from __future__ import annotations

import os
import sys
from typing import Any

_ON = frozenset({"1", "true", "yes", "on", "y", "t"})
_FLAGS = ("CUDA_LAUNCH_BLOCKING", "NCCL_P2P_DISABLE", "NCCL_IB_DISABLE", "NCCL_SHM_DISABLE")
_WORDS = ("TORCH_DISTRIBUTED_DEBUG", "PYTHONMALLOC")
_NUMBERS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
NAMES = (*(name.lower() for name in (*_FLAGS, *_WORDS, *_NUMBERS)), "python_dev_mode")


def describe() -> dict[str, Any]:
    """The switches by their names in lower case; those that are not set are left out."""
    told = {name: os.environ[name].strip() for name in (*_FLAGS, *_WORDS, *_NUMBERS) if name in os.environ}
    facts: dict[str, Any] = {name.lower(): told[name].lower() in _ON for name in _FLAGS if name in told}
    facts |= {name.lower(): told[name][:64].lower() for name in _WORDS if name in told}
    # OpenMP takes a list too, one number for each level of nesting: the outermost counts
    outermost = {name: told[name].partition(",")[0] for name in _NUMBERS if name in told}
    facts |= {name.lower(): int(text) for name, text in outermost.items() if text.isdigit()}
    return {**facts, "python_dev_mode": True} if sys.flags.dev_mode else facts
