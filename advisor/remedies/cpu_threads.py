"""Against cores that idle, or that too many threads fight for."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.vocabulary import Stage
from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Proposal

#: The share of forward and backward that more threads speed up: at worst, likely, at best.
PARALLEL_SHARES = (0.3, 0.7, 0.95)


def propose(case: Case) -> Iterator[Proposal]:
    """As many intra-op threads as cores are free for this rank."""
    cores, threads = case.number("cpu.cores"), case.number("cpu.threads")
    if cores is None or threads is None:
        return
    ranks = case.number("world_size") or 1
    free = max(int(cores / ranks), 1)
    if free > threads:
        model_s = case.stage_s(Stage.FORWARD) + case.stage_s(Stage.BACKWARD)
        worst, likely, best = (
            case.step_s - share * model_s * (1 - threads / free) for share in PARALLEL_SHARES
        )
        yield Proposal(
            method="cpu-inductor-onednn",
            knob=f"threads.intraop={free}",
            how=f"torch.set_num_threads({free})  # it is {threads:g} now; or OMP_NUM_THREADS={free}",
            basis="Amdahl's law over forward and backward, 30 to 95 % of them parallel",
            effort=Effort.SWITCH,
            estimate=StepEstimate(best, likely, worst),
        )
    elif free < threads or case.finding.cause == "oversubscribed":
        fewer = max(free, 1)
        yield Proposal(
            method="worker-thread-limit",
            knob=f"threads.intraop={fewer}",
            how=f"torch.set_num_threads({fewer}), and torch.set_num_threads(1) in each loader worker",
            basis="the time that threads were measured to wait for a core",
            effort=Effort.SWITCH,
            estimate=StepEstimate(
                case.step_s - case.exposed_s, case.step_s - 0.5 * case.exposed_s, case.step_s
            ),
        )
