"""The runs that come with trainrx: real recordings, one per family of bottlenecks, to look at before recording any.

They are run folders like any other, but for what would tell of the machine and the place they were recorded at, and
they are never written to. ``tests/samples/record.py`` records them.
"""

from __future__ import annotations

from pathlib import Path

from ..profiler.errors import InputError
from ..profiler.store import RunFolder
from ..profiler.vocabulary import Family

SAMPLES = Path(__file__).with_name("samples")


def sample_name(family: Family) -> str:
    """What the run of a family is called."""
    return family.value.replace(" ", "-")


def sample_runs() -> list[RunFolder]:
    """All of them, in the order of the families."""
    return [RunFolder(SAMPLES / sample_name(family)) for family in Family]


def sample_run(name: str) -> RunFolder:
    """The run called ``name``, or whose name begins so.

    Raises:
        InputError: there is none.
    """
    names = [sample_name(family) for family in Family]
    found = [known for known in names if name and known.startswith(name)]
    exact = name if name in names else found[0] if len(found) == 1 else None
    if exact is None:
        raise InputError(f"there is no bundled run called {name[:80]!r}: there are {', '.join(names)}")
    return RunFolder(SAMPLES / exact)


def is_sample(name: str) -> bool:
    """Whether a bundled run has exactly this name."""
    return any(name == sample_name(family) for family in Family)
