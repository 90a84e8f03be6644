"""Against checkpoints that stop training: save less often, or beside the training."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Proposal

INTERVAL = 10
#: Copying the state before it is written in the background still takes time: this share of a save, from none to half.
COPY_SHARE = 0.2


def propose(case: Case) -> Iterator[Proposal]:
    """Interval first, then asynchronous saving."""
    rest = case.step_s - case.exposed_s
    yield Proposal(
        method="eval-and-log-frequency",
        knob=f"checkpoint.every={INTERVAL}",
        how=f"save every {INTERVAL} times as many steps, or by the clock (once in ten minutes)",
        basis=f"the measured time in torch.save, {INTERVAL} times less often",
        effort=Effort.SWITCH,
        estimate=StepEstimate(rest, rest + case.exposed_s / INTERVAL, rest + 0.3 * case.exposed_s),
    )
    yield Proposal(
        method="async-checkpoint",
        knob="checkpoint.asynchronous=true",
        how="torch.distributed.checkpoint.async_save(state, checkpoint_id=path), or copy the state, save in a thread",
        basis=f"the measured time in torch.save, less a copy of the state (about {COPY_SHARE:.0%} of it)",
        effort=Effort.LINES,
        estimate=StepEstimate(rest, rest + COPY_SHARE * case.exposed_s, rest + 0.6 * case.exposed_s),
    )
