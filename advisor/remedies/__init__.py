"""What helps against a kind of bottleneck in this run: one file per kind, found by its name.

Each file has ``propose(case) -> Iterator[Proposal | Declined]`` and is called like the kind, with underscores. It may
have ``COMPLETE``, the causes for which its own answers are all there is: nothing that the catalog lists for the kind is
added to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

from ..proposal import Case, Declined, Proposal

Remedy = Callable[[Case], Iterator[Proposal | Declined]]


@dataclass(frozen=True)
class Answers:
    """What a file of remedies says to a finding."""

    proposals: tuple[Proposal, ...]
    declined: tuple[Declined, ...]
    complete: bool


def answers(case: Case) -> Answers:
    """What the remedies of a finding's kind say to it."""
    module = import_module(f"{__name__}.{case.finding.kind.value.replace('-', '_')}")
    propose: Remedy = module.propose
    said = list(propose(case))
    return Answers(
        proposals=tuple(one for one in said if isinstance(one, Proposal)),
        declined=tuple(one for one in said if isinstance(one, Declined)),
        complete=case.cause in getattr(module, "COMPLETE", ()),
    )
