"""Against evaluation that takes too much of the training: less often, larger batches, no gradients."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Proposal

INTERVAL = 5


def propose(case: Case) -> Iterator[Proposal]:
    """Interval first, then inference mode."""
    rest = case.step_s - case.exposed_s
    yield Proposal(
        method="eval-and-log-frequency",
        how=f"evaluate {INTERVAL} times less often, or on a part of the validation set",
        basis=f"the measured time of evaluation, {INTERVAL} times less often",
        effort=Effort.LINES,
        estimate=StepEstimate(rest, rest + case.exposed_s / INTERVAL, rest + 0.5 * case.exposed_s),
    )
    yield Proposal(
        method="inference-mode-eval",
        knob="eval.inference_mode=true",
        how="with torch.inference_mode(): around the evaluation loop, with a larger batch than in training",
        basis="a tenth of evaluation time, which skipping autograd's bookkeeping commonly saves",
        effort=Effort.SWITCH,
        estimate=StepEstimate(rest + 0.7 * case.exposed_s, rest + 0.95 * case.exposed_s, case.step_s),
    )
