"""Against clocks that heat or a power limit hold down: no change of the script mends that."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal


def propose(case: Case) -> Iterator[Proposal]:
    """Look at the reason first; cooling, a power limit or a neighbour are mended outside the script."""
    if case.setup("device.kind") == "cpu":
        return
    yield Proposal(
        method="gpu-clock-power",
        how="nvidia-smi -q -d PERFORMANCE,CLOCK,POWER while it trains: which throttle reason is active, on which GPU?",
        basis="the measured loss of clock: all of it at best, nothing where the machine cannot be changed",
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.5, 1.0),
        fit=Fit.CAUSE,
    )
