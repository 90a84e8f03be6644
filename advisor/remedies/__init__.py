"""What helps against a kind of bottleneck in this run: one file per kind, found by its name.

Each file has ``propose(case) -> Iterator[Proposal]`` and is called like the kind, with underscores. A kind without a
file has only what the catalog says of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from ..proposal import Case, Proposal

Remedy = Callable[[Case], Iterator[Proposal]]


def proposals(case: Case) -> list[Proposal]:
    """The proposals for a finding; empty where its kind has no file of remedies."""
    name = f"{__name__}.{case.finding.kind.value.replace('-', '_')}"
    if find_spec(name) is None:
        return []
    propose: Remedy = import_module(name).propose
    return list(propose(case))
