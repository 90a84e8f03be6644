"""One file per knob: a change that can be made to an unedited script from outside.

Each module says

- ``NAME``: how people write it, ``group.what``; the file is called the same with ``_`` for the dot;
- ``EQUIVALENCE``: ``exact``, ``numerical`` or ``semantic``; ``SUMMARY``: what it changes;
- ``parse(text)``: the value, or a `ValueError` with a clear sentence; ``EXAMPLE``: a value that can be parsed;
- ``applies(setup)``: None, or the reason why it does not apply to a run with this setup;
- ``install(value, site)``: puts it on in the training process, and tells the site whether it took;
- ``snippet(value)``: how to write it in the script; ``UNDO``: how to take it back.

Optional: ``TOLERANCE``, the relative difference of losses that its rounding explains; ``MOVES_RANDOMNESS``, true if
random numbers may be drawn in another order; ``CEILING``, true for a knob that is no fix and only measures what one
could bring.

Knobs that set one argument of one class get ``applies``, ``install`` and ``snippet`` from a function of
`..intervention`. This module finds them by their files; the files are loaded in the user's process only where they are
asked for.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Process, Site

DEFAULT_TOLERANCE = 1e-3


class Knob(Protocol):
    """What a knob's module holds."""

    NAME: str
    EQUIVALENCE: str
    SUMMARY: str
    EXAMPLE: str
    UNDO: str

    @staticmethod
    def parse(text: str) -> Any:
        """The value that a text stands for."""
        ...

    @staticmethod
    def applies(setup: Mapping[str, Any]) -> str | None:
        """Why the knob does not apply to a run, or None."""
        ...

    @staticmethod
    def install(value: Any, site: Site) -> None:
        """Put it on in this process."""
        ...

    @staticmethod
    def snippet(value: Any) -> str:
        """How to write it in the script."""
        ...


def names() -> tuple[str, ...]:
    """The names of all knobs, in order."""
    files = sorted(os.listdir(os.path.dirname(os.path.abspath(__file__))))
    modules = [file[:-3] for file in files if file.endswith(".py") and file != "__init__.py"]
    return tuple(_module(module).NAME for module in modules)


def find(name: str) -> Knob:
    """The knob of this name.

    Raises:
        KeyError: there is none.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", name):
        raise KeyError(name)
    try:
        return _module(name.replace(".", "_"))
    except ModuleNotFoundError:
        raise KeyError(name) from None


def tolerance(knob: Knob) -> float:
    """The relative difference of losses that a numerical knob may cause."""
    return float(getattr(knob, "TOLERANCE", DEFAULT_TOLERANCE))


def moves_randomness(knob: Knob) -> bool:
    """Whether the knob may change which process draws random numbers, or in which order."""
    return bool(getattr(knob, "MOVES_RANDOMNESS", False))


def is_ceiling(knob: Knob) -> bool:
    """Whether the knob only measures what a fix could bring."""
    return bool(getattr(knob, "CEILING", False))


def install(chosen: Mapping[str, str], process: Process) -> None:
    """Put knobs on in this process; one that fails is told and leaves the others alone."""
    from ..intervention.site import Site

    for name, text in chosen.items():
        try:
            knob = find(name)
            knob.install(knob.parse(text), Site(name, process))
            process.journal.tell(name, "installed")
        except Exception as error:
            process.journal.tell(name, "failed", f"{type(error).__name__}: {error}")


def _module(name: str) -> Any:
    return import_module(f".{name}", __name__)
