"""Against batches that the training loop makes by itself: worker processes beside it, or cheaper batches."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.setup_facts import ranks_here
from ..predict.loading import LEAN, STORED, LoadingModel
from ..proposal import Case, Effort, Fit, Proposal


def propose(case: Case) -> Iterator[Proposal]:
    """A loader with workers for the function that makes batches; lean code in it; its results stored."""
    where = case.line or "the lines that make a batch"
    yield _workers(case, where)
    yield Proposal(
        method="lean-getitem",
        how=f"rewrite {where} with NumPy or torch on whole arrays: index all samples of a batch at once, with no loop "
        "over samples or elements",
        basis=f"the sampled time of these lines, with {LEAN:.0%} of it left: array code in place of Python's".replace(
            "%", " %"
        ),
        effort=Effort.LINES,
        estimate=case.remaining(0.5 * LEAN, LEAN, 1.0),
        fit=Fit.CAUSE,
    )
    yield Proposal(
        method="offline-preprocessing",
        how=f"make what {where} makes once before training, store it as one array (np.save; np.load with "
        "mmap_mode='r'), and cut batches out of it",
        basis=f"the sampled time of these lines, with {STORED:.0%} of it left".replace("%", " %"),
        effort=Effort.LINES,
        estimate=case.remaining(0.5 * STORED, STORED, 1.0),
        fit=Fit.CAUSE,
    )


def _workers(case: Case, where: str) -> Proposal:
    """The throughput model, with all the time of the lines taken for computing: at worst nothing is gained."""
    model = _model(case)
    workers = 2 if model is None else model.best_workers()
    beside = None if model is None else model.step(workers)
    return Proposal(
        method="dataloader-num-workers",
        how=f"call {where} in the __iter__ of an IterableDataset, seeded by get_worker_info().id, and take batches "
        f"from DataLoader(that, batch_size=None, num_workers={workers}, persistent_workers=True)",
        basis="the throughput model on the sampled time of these lines, taken for computing, and this run's cores",
        effort=Effort.LINES,
        estimate=beside or case.remaining(0.05, 0.4, 1.0),
        fit=Fit.CAUSE,
        relieves=False,
    )


def _model(case: Case) -> LoadingModel | None:
    cores, busy_s = case.number("cpu.cores"), case.report.process_cpu_s_per_step
    if cores is None or case.step_s <= 0:
        return None
    training_s, mine = case.step_s - case.exposed_s, cores / ranks_here(case.report.setup)
    training_cpu_s = training_s if busy_s is None else max(busy_s - case.exposed_s, 0.0)
    return LoadingModel(
        wall_s=case.exposed_s,
        cpu_s=case.exposed_s,
        training_s=training_s,
        training_cpu_s=min(training_cpu_s, training_s * mine),
        cores=mine,
        training_on_cpu=case.setup("device.kind") == "cpu",
    )
