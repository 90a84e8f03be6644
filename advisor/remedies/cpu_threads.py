"""Against cores that idle, or that too many threads fight for."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.report import Report
from ...profiler.setup_facts import ranks_here
from ...profiler.vocabulary import Stage
from ..predict.estimate import StepEstimate
from ..predict.loading import MOST_CROWD_LOSS
from ..proposal import Case, Effort, Fit, Proposal

#: The share of forward and backward that more threads speed up: at worst, likely, at best.
PARALLEL_SHARES = (0.3, 0.7, 0.95)


def propose(case: Case) -> Iterator[Proposal]:
    """As many threads as cores are free for this rank: more where cores idle, fewer where threads fight."""
    cores, threads = case.number("cpu.cores"), case.number("cpu.threads")
    if cores is None or threads is None:
        return
    free = max(int(cores / ranks_here(case.report.setup)), 1)
    if case.cause == "oversubscribed" or free < threads:
        yield from _fewer(case, free, int(threads))
    elif free > threads:
        yield _more(case, free, int(threads))


def _more(case: Case, free: int, threads: int) -> Proposal:
    model_s = case.stage_s(Stage.FORWARD) + case.stage_s(Stage.BACKWARD)
    worst, likely, best = (case.step_s - share * model_s * (1 - threads / free) for share in PARALLEL_SHARES)
    return Proposal(
        method="cpu-inductor-onednn",
        knob=f"threads.intraop={free}",
        how=f"torch.set_num_threads({free})  # it is {threads} now; or OMP_NUM_THREADS={free}",
        basis="Amdahl's law over forward and backward, 30 to 95 % of them parallel",
        effort=Effort.SWITCH,
        estimate=StepEstimate(best, likely, worst),
        fit=Fit.CAUSE,
        removes_s=model_s * (1 - threads / free),
    )


def _fewer(case: Case, free: int, threads: int) -> Iterator[Proposal]:
    """Workers are told first: to have one thread each, or, where they have, to be fewer than this rank's cores."""
    estimate, removes_s = case.remaining(0.02, 0.1, 1.0), most_removed_s(case)
    basis = "the time that threads were measured to wait for a core"
    workers = case.number("loader.num_workers") or 0
    crowd = workers > 0 and has_single_threads(case.report)
    fewer = max(free - 1, 1)
    if crowd and case.evidence("threads of loader workers") is not None and fewer < workers:
        yield Proposal(
            method="dataloader-num-workers",
            knob=f"loader.num_workers={fewer}",
            how=f"DataLoader(..., num_workers={fewer})  # it is {workers:g} now; training needs the {free} cores too",
            basis=basis,
            effort=Effort.SWITCH,
            estimate=estimate,
            fit=Fit.CAUSE,
            removes_s=removes_s,
        )
        workers = fewer
    if workers > 0 and not crowd:
        yield Proposal(
            method="worker-thread-limit",
            knob="loader.worker_threads=1",
            how="worker_init_fn: torch.set_num_threads(1), cv2.setNumThreads(0); and OMP_NUM_THREADS=1",
            basis=basis,
            effort=Effort.SWITCH,
            estimate=estimate,
            fit=Fit.CAUSE,
            removes_s=removes_s,
        )
    left = max(int(free - workers), 1)
    if left < threads:
        yield Proposal(
            method="cpu-inductor-onednn",
            knob=f"threads.intraop={left}",
            how=f"torch.set_num_threads({left})  # it is {threads} now, beside {workers:g} workers on {free} cores",
            basis=basis,
            effort=Effort.SWITCH,
            estimate=estimate,
            fit=Fit.CAUSE,
            removes_s=removes_s,
        )


def has_single_threads(report: Report) -> bool:
    """Whether workers are known to compute with one thread each, as PyTorch starts them."""
    return report.loader is not None and report.loader.worker_threads == 1


def most_removed_s(case: Case) -> float | None:
    """Seconds of a step that go at most once threads have cores; None where their number or that of cores is not known.

    Threads that outnumber cores by a factor make work take that factor longer, and more by switching and cold caches.
    """
    cores, threads = case.number("cpu.cores"), case.number("cpu.threads")
    if cores is None or threads is None:
        return None
    of_workers = case.evidence("threads of loader workers")
    all_threads = threads + (of_workers if isinstance(of_workers, int | float) else 0)
    left = min(cores / all_threads, 1.0) / (1 + MOST_CROWD_LOSS)
    return case.stage_s(Stage.DATA_WAIT) + (1 - left) * (case.step_s - case.stage_s(Stage.DATA_WAIT))
