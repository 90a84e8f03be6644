"""Against a slow parameter update: one kernel for all tensors, and only the rows that were used."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.vocabulary import Stage
from ..predict.estimate import StepEstimate, stage_factor
from ..proposal import Case, Effort, Fit, Proposal

#: What a fused step gains over a tensor-by-tensor one, at worst, likely, at best. Measured on CPU with AdamW over 4 to
#: 400 tensors: 1.3 to 6 times; on GPUs the published gains lie in the same range.
FUSED_FACTORS = (1.2, 2.5, 6.0)
#: On a CPU, where the loop over many small tensors is Python's own cost: the scenarios gained 3.4 to 4.5 times.
CPU_FACTORS = (1.2, 3.5, 6.0)
#: Over an update that runs on all tensors at once already (PyTorch's default on GPUs), a fused one gains less.
OVER_FOREACH_FACTORS = (1.0, 1.3, 2.0)
#: With few, large tensors the memory is the limit and one kernel instead of several saves passes over it.
FEW_TENSORS, FEW_TENSORS_FACTORS = 16, (1.0, 1.5, 4.0)
#: Passes over a table's memory: a backward pass fills its gradient with zeros and adds rows, Adam's update reads four
#: arrays and writes three.
GRADIENT_PASSES, UPDATE_PASSES = 2, 7
_FUSED = {"adam", "adamw", "sgd", "adagrad"}
COMPLETE = frozenset({"dense-embedding-gradient"})


def propose(case: Case) -> Iterator[Proposal]:
    """Fused where the optimizer has it, else foreach on a GPU; sparse gradients where an embedding fills the model."""
    if case.has("large-vocab") or case.cause == "dense-embedding-gradient":
        yield _sparse(case)
    if not case.setup("optimizer.fused"):
        yield from _joined(case)


def _joined(case: Case) -> Iterator[Proposal]:
    written = case.setup("optimizer.class") or "Optimizer"
    if str(case.setup("optimizer.name") or "") in _FUSED:
        worst, likely, best = _factors(case)
        yield Proposal(
            method="fused-optimizer",
            knob="optimizer.fused=true",
            how=f"torch.optim.{written}(..., fused=True)",
            basis=f"a fused step runs {worst:g} to {best:g} times as fast, {likely:g} in the middle",
            effort=Effort.SWITCH,
            estimate=stage_factor(case.step_s, case.exposed_s, best=best, likely=likely, worst=worst),
            fit=Fit.CAUSE,
        )
    if case.setup("device.kind") != "cpu" and not case.setup("optimizer.foreach"):
        yield Proposal(
            method="foreach-optimizer",
            knob="optimizer.foreach=true",
            how=f"torch.optim.{written}(..., foreach=True)",
            basis="one launch for many tensors instead of one for each",
            effort=Effort.SWITCH,
            estimate=_by(case, FUSED_FACTORS),
            fit=Fit.CAUSE,
        )


def _factors(case: Case) -> tuple[float, float, float]:
    if case.on_gpu and case.setup("optimizer.foreach") is not False:
        return OVER_FOREACH_FACTORS
    tensors = case.number("optimizer.tensors")
    if tensors is not None and tensors <= FEW_TENSORS:
        return FEW_TENSORS_FACTORS
    return FUSED_FACTORS if case.on_gpu else CPU_FACTORS


def _by(case: Case, factors: tuple[float, float, float]) -> StepEstimate:
    worst, likely, best = factors
    return stage_factor(case.step_s, case.exposed_s, best=best, likely=likely, worst=worst)


def _sparse(case: Case) -> Proposal:
    """The backward pass writes the whole table's gradient, which goes too: as much as its share of passes tells."""
    left, backward_s = case.remaining(0.02, 0.05, 0.9), case.stage_s(Stage.BACKWARD)
    gradient_s = min(GRADIENT_PASSES / UPDATE_PASSES * case.exposed_s, 0.9 * backward_s)
    return Proposal(
        method="sparse-embedding-gradients",
        how="nn.Embedding(..., sparse=True), and its own optimizer: SparseAdam, Adagrad or SGD",
        basis="rows that no batch touches are left alone; how many those are was not measured",
        effort=Effort.LINES,
        estimate=StepEstimate(left.best_s - 0.95 * backward_s, left.likely_s - gradient_s, left.worst_s),
        fit=Fit.CAUSE,
        removes_s=case.exposed_s + backward_s,
    )
