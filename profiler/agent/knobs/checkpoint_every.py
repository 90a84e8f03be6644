"""Saves a file only every n-th time that the script saves it: what rarer checkpoints would bring.

It is a measurement and no fix: the script cannot tell which save is its last, and the last one matters.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..intervention.setup import anywhere
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "checkpoint.every"
EQUIVALENCE = "exact"
SUMMARY = "only every n-th save of a file is written (what rarer checkpoints would bring)"
EXAMPLE = "5"
UNDO = "save as often as before"
CEILING = True


def parse(text: str) -> int:
    """Every how many-th call saves."""
    return whole_number(text, least=2, most=1_000_000)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Every run that saves."""
    return anywhere(setup)


def install(value: int, site: Site) -> None:
    """Leave out the calls between, for each path by itself, whatever step or epoch its name counts.

    What is no path is no checkpoint on a disk yet.
    """
    calls: Counter[str] = Counter()

    def change(module: Any) -> None:
        original = module.save

        @wraps(original)
        def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
            if isinstance(f, (str, os.PathLike)):
                name = re.sub(r"\d+", "#", os.fsdecode(f))
                calls[name] += 1
                if calls[name] % value != 1:
                    site.applied(f"torch.save: every {value}th save of a file is written")
                    return
            original(obj, f, *args, **kwargs)

        module.save = save

    site.when_imported("torch.serialization", change)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"if step % {value} == 0: torch.save(...)"
