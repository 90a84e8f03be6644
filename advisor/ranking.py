"""In which order prescriptions stand.

Methods that only save steps come last; before them, what makes a model cheaper that is only noted to fill the step. For
the rest and within both, methods that leave what is learned alone, or whose gain is predicted for the very cause, come
first, and among them what answers a shortage of memory that heads the diagnosis, for such a run may not reach its end;
then gain per effort counts, the gain weighed by how well the proposal fits the cause that was found and by whether its
needs are known to hold; exact comes before numerical at equal gain.
"""

from __future__ import annotations

import math

from ..catalog import Bottleneck, Equivalence, Method
from ..profiler.vocabulary import Kind, Severity
from .proposal import Case, Fit, Proposal

EQUIVALENCE_ORDER = {Equivalence.EXACT: 0, Equivalence.NUMERICAL: 1, Equivalence.SEMANTIC: 2}
#: What a gain counts whose method has needs that the run did not tell of. Ours.
UNKNOWN_NEEDS_WEIGHT = 0.5
#: A gain that nobody can predict counts as this part of the bound, and the bound as a factor of two at most. Ours.
UNPREDICTED_PART, UNPREDICTED_BOUND = 0.1, 2.0

#: Kinds that are the model's own work: as a note they say where time goes, not what a run waits for.
_WORK = (Kind.COMPUTE, Kind.MEMORY_BANDWIDTH)

Rank = tuple[float, ...]


def rank(position: int, case: Case, method: Method, proposal: Proposal) -> Rank:
    """The sort key of a proposal for the finding at a position; equal keys keep their order."""
    return (
        float(only_saves_steps(method)),
        float(case.finding.kind in _WORK and case.finding.severity is Severity.NOTE),
        float(method.equivalence is Equivalence.SEMANTIC and not _answers(proposal)),
        float(not _keeps_it_alive(position, case, proposal)),
        -round(_score(case, method, proposal), 6),
        float(proposal.fit),
        float(proposal.effort),
        float(EQUIVALENCE_ORDER[method.equivalence]),
        float(position),
    )


def only_saves_steps(method: Method) -> bool:
    """Whether a method relieves nothing but the number of steps, so that a step is no faster with it."""
    return method.relieves == (Bottleneck.SAMPLE_EFFICIENCY,)


def _keeps_it_alive(position: int, case: Case, proposal: Proposal) -> bool:
    """Whether it answers the cause of a shortage of memory that is the headline: no gain in time tells its worth."""
    heads = position == 0 and case.finding.severity is not Severity.NOTE
    return heads and case.finding.kind is Kind.MEMORY_CAPACITY and proposal.fit is Fit.CAUSE


def _answers(proposal: Proposal) -> bool:
    """Whether it answers the very cause, with a gain that can be predicted."""
    return proposal.fit is Fit.CAUSE and proposal.estimate is not None


def _score(case: Case, method: Method, proposal: Proposal) -> float:
    known = not method.needs_met(case.report.setup).unknown
    weight = proposal.fit.weight * (1.0 if known else UNKNOWN_NEEDS_WEIGHT)
    return weight * _gain(case, proposal) / int(proposal.effort)


def _gain(case: Case, proposal: Proposal) -> float:
    """The logarithm of the speed-up to expect."""
    prediction = case.prediction(proposal)
    if prediction is not None:
        return math.log(max(prediction.mid, 1e-3))
    if case.step_s <= 0:
        return 0.0
    bound = case.step_s / max(case.step_s - case.exposed_s, case.step_s / UNPREDICTED_BOUND)
    return UNPREDICTED_PART * math.log(bound)
