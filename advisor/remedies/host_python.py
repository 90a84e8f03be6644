"""Against Python code between the stages: do it less often, elsewhere, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Proposal

#: Every tenth step is often enough for metrics and logs.
INTERVAL = 10


def propose(case: Case) -> Iterator[Proposal]:
    """Work on the lines that were seen."""
    line = next((where for where in case.finding.where if where.file is not None), None)
    place = f"{line.file}:{line.line}" if line is not None else "the lines named above"
    kept = case.exposed_s / INTERVAL
    rest = case.step_s - case.exposed_s
    yield Proposal(
        method="eval-and-log-frequency",
        how=f"run {place} every {INTERVAL} steps rather than in each: `if step % {INTERVAL} == 0:`",
        basis=f"the sampled time of these lines, kept in one step of {INTERVAL}",
        effort=Effort.LINES,
        estimate=StepEstimate(rest, rest + kept, rest + 0.5 * case.exposed_s),
    )
