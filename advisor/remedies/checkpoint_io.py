"""Against checkpoints that stop training: save less often, or beside the training."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal

INTERVAL = 10
#: Copying the state before it is written in the background still takes time: this share of a save, likely and at worst.
COPY_SHARE, WORST_COPY_SHARE = 0.2, 0.6


def propose(case: Case) -> Iterator[Proposal]:
    """Saving beside the training, then less often, each at the line that saves."""
    at = "" if case.line is None else f"at {case.line}: "
    yield Proposal(
        method="async-checkpoint",
        knob="checkpoint.asynchronous=true",
        how=f"{at}torch.distributed.checkpoint.async_save(state, checkpoint_id=path), "
        "or copy the state, save in a thread",
        basis=f"the measured time in torch.save, less a copy of the state (about {COPY_SHARE:.0%} of it)",
        effort=Effort.LINES,
        estimate=case.remaining(0.0, COPY_SHARE, WORST_COPY_SHARE),
        fit=Fit.CAUSE,
    )
    yield Proposal(
        method="eval-and-log-frequency",
        knob=f"checkpoint.every={INTERVAL}",
        how=f"{at}save every {INTERVAL} times as many steps, or by the clock (once in ten minutes)",
        basis=f"the measured time in torch.save, {INTERVAL} times less often",
        effort=Effort.SWITCH,
        estimate=case.remaining(1 / INTERVAL, 1 / INTERVAL, 0.3),
        fit=Fit.CAUSE,
    )
