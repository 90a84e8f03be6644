"""Against evaluation that takes too much of the training: less often, larger batches, no gradients."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal

INTERVAL = 10


def propose(case: Case) -> Iterator[Proposal]:
    """Interval first, then inference mode with larger batches."""
    keeps = case.cause == "eval-without-no-grad"
    loop = "the evaluation loop" if case.line is None else f"the evaluation loop at {case.line}"
    whole = "evaluate" if case.line is None else f"run {loop}"
    yield Proposal(
        method="eval-and-log-frequency",
        how=f"{whole} {INTERVAL} times less often, or on a part of the validation set",
        basis=f"the measured time of evaluation, {INTERVAL} times less often",
        effort=Effort.LINES,
        estimate=case.remaining(1 / INTERVAL, 1 / INTERVAL, 0.5),
        fit=Fit.CAUSE,
    )
    yield Proposal(
        method="inference-mode-eval",
        knob="eval.inference_mode=true",
        how=f"with torch.inference_mode(): around {loop}, with a larger batch than in training",
        basis="its forwards keep gradients now: their bookkeeping goes, and the memory that they hold"
        if keeps
        else "a tenth of evaluation time, which autograd's bookkeeping commonly takes; larger batches add to it",
        effort=Effort.SWITCH,
        estimate=case.remaining(0.4, 0.75, 1.0) if keeps else case.remaining(0.5, 0.9, 1.0),
        fit=Fit.CAUSE,
    )
