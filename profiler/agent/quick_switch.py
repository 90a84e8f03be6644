"""Lets a sampler see pure Python code: has Python hand its lock over within half a millisecond rather than five.

Otherwise a thread keeps the lock until it calls something that lets go of it, which most pieces of Python code reach
sooner than the five milliseconds are over: all samples of such code would name that call instead. An interval that the
script has chosen itself is left alone.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

PYTHONS_OWN_S = 0.005
QUICK_S = 0.0005


@contextmanager
def quick_switch() -> Generator[None]:
    """Lower the interval while a sampler runs; put Python's own back if it is still as we set it."""
    if sys.getswitchinterval() != PYTHONS_OWN_S:
        yield
        return
    sys.setswitchinterval(QUICK_S)
    try:
        yield
    finally:
        if abs(sys.getswitchinterval() - QUICK_S) < 1e-9:
            sys.setswitchinterval(PYTHONS_OWN_S)
