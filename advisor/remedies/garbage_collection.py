"""Against pauses of Python's garbage collector: keep what lives long out of its sight, collect when it suits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Fit, Proposal


def propose(case: Case) -> Iterator[Proposal]:
    """Freeze what lives for the whole training; with several ranks, collect on all of them at once."""
    planned = collect_by_plan(
        case, case.remaining(0.02, 0.1, 0.6), "the measured pauses, of which little stays"
    )
    if case.cause == "explicit-collect":
        place = "" if case.line is None else f" at {case.line}"
        planned = replace(
            planned,
            how=f"take gc.collect() out of the loop{place}, or call it every 1000 steps",
            estimate=case.remaining(0.0, 0.005, 0.3),
        )
    yield planned


def collect_by_plan(case: Case, estimate: StepEstimate, basis: str) -> Proposal:
    """Garbage collection under the script's control."""
    several = (case.number("world_size") or 1) > 1
    shared = ", on all ranks in the same step" if several else ""
    return Proposal(
        method="python-gc-control",
        knob=f"gc.control={'manual' if several else 'freeze'}",
        how=f"after some steps: gc.collect(); gc.freeze(); gc.disable(); then gc.collect(1) every 1000 steps{shared}",
        basis=basis,
        effort=Effort.SWITCH,
        estimate=estimate,
        fit=Fit.CAUSE,
    )
