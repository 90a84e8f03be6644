"""Against a slow parameter update: one kernel for all tensors."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import stage_factor
from ..proposal import Case, Effort, Proposal

#: What a fused step gains over a tensor-by-tensor one, at worst, likely, at best. Measured on CPU with AdamW over 4 to
#: 400 tensors: 1.3 to 6 times; on GPUs the published gains lie in the same range.
FUSED_FACTORS = (1.2, 2.5, 6.0)
_FUSED_ON_CPU = {"adam", "adamw", "sgd", "adagrad"}


def propose(case: Case) -> Iterator[Proposal]:
    """Fused where the optimizer has it, else foreach on a GPU."""
    name, device = str(case.setup("optimizer.name") or ""), case.setup("device.kind")
    if case.setup("optimizer.fused"):
        return
    worst, likely, best = FUSED_FACTORS
    estimate = stage_factor(case.step_s, case.exposed_s, best=best, likely=likely, worst=worst)
    written = case.setup("optimizer.class") or "Optimizer"
    if name in _FUSED_ON_CPU:
        yield Proposal(
            method="fused-optimizer",
            knob="optimizer.fused=true",
            how=f"torch.optim.{written}(..., fused=True)",
            basis=f"fused steps run {worst} to {best:g} times as fast as tensor-by-tensor ones, {likely} in the middle",
            effort=Effort.SWITCH,
            estimate=estimate,
        )
    if device != "cpu" and not case.setup("optimizer.foreach"):
        yield Proposal(
            method="foreach-optimizer",
            knob="optimizer.foreach=true",
            how=f"torch.optim.{written}(..., foreach=True)",
            basis="one launch for many tensors instead of one for each",
            effort=Effort.SWITCH,
            estimate=estimate,
        )
