"""Against waiting for data: workers where cores or waiting allow, else cheaper samples."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.report import LoaderReport
from ..predict.estimate import StepEstimate
from ..predict.loading import LoadingModel, loading_model
from ..proposal import Case, Effort, Proposal

_MODEL = (
    "throughput model on this run's measured wall and CPU seconds per batch, its cores and its training time"
)
#: Workers are proposed only where the model sees at least this much.
WORTHWHILE = 1.03


def propose(case: Case) -> Iterator[Proposal]:
    """Worker settings by the throughput model, then ways to make a sample cheaper."""
    model, loader = loading_model(case.report), case.report.loader
    workers = case.number("loader.num_workers")
    if model is not None and loader is not None and workers is not None:
        yield from _worker_count(case, model, int(workers))
        if workers > 0:
            yield from _kept_workers(case, loader)
        yield from _cheaper_samples(case, model, loader, int(workers))


def _worker_count(case: Case, model: LoadingModel, workers: int) -> Iterator[Proposal]:
    best = model.best_workers()
    estimate = model.step(best)
    if best == workers or case.step_s / estimate.likely_s < WORTHWHILE:
        return
    count = f"num_workers={best}"
    keep = ", persistent_workers=True" if best > 0 else ""
    yield Proposal(
        method="dataloader-num-workers",
        knob=f"loader.num_workers={best}",
        how=f"DataLoader(..., {count}{keep})  # it is {workers} now",
        basis=_MODEL,
        effort=Effort.SWITCH,
        estimate=estimate,
    )


def _kept_workers(case: Case, loader: LoaderReport) -> Iterator[Proposal]:
    step = case.report.step_time
    if loader.starts == 0 or case.setup("loader.persistent_workers") or step is None:
        return
    restart_s = min((loader.start_s or 0.0) * loader.starts / step.n, case.exposed_s)
    left = case.step_s - restart_s
    yield Proposal(
        method="dataloader-persistent-workers",
        knob="loader.persistent_workers=true",
        how="DataLoader(..., persistent_workers=True)",
        basis=f"workers were started {loader.starts} times in {step.n} steps, {loader.start_s or 0:.2f} s each",
        effort=Effort.SWITCH,
        estimate=StepEstimate(
            max(left - 0.5 * restart_s, case.step_s - case.exposed_s), left, case.step_s - 0.5 * restart_s
        ),
    )


def _cheaper_samples(
    case: Case, model: LoadingModel, loader: LoaderReport, workers: int
) -> Iterator[Proposal]:
    batches = case.report.batches_per_step or 1.0
    samples = loader.samples_per_batch * batches
    slowest = max(loader.transforms, key=lambda transform: transform.wall_s, default=None)
    name = (
        f"{slowest.name}, {slowest.wall_s * 1e3:.2f} ms a sample,"
        if slowest
        else "what is the same in every epoch"
    )
    all_but_copy = model.cheaper_by(0.9 * loader.sample_wall_s * samples, 0.9 * loader.sample_cpu_s * samples)
    cached = all_but_copy.step(workers)
    yield Proposal(
        method="offline-preprocessing",
        how=f"do {name} once before training, and store the result; keep only random augmentation in the data set",
        basis="the same model, with nine tenths of a sample's cost gone",
        effort=Effort.LINES,
        estimate=cached,
    )
    if case.report.setup.get("task.domain") == "vision":
        half = model.cheaper_by(0.5 * loader.sample_wall_s * samples, 0.5 * loader.sample_cpu_s * samples)
        yield Proposal(
            method="fast-image-decode-cpu",
            how="decode with a faster library (torchvision.io, TurboJPEG, pillow-simd), at the size that is needed",
            basis="the same model, with half of a sample's cost gone",
            effort=Effort.LINES,
            estimate=half.step(workers),
        )
    yield Proposal(
        method="dataset-in-memory",
        how="keep decoded samples in memory (a tensor, or a cache in the data set), if they fit",
        basis="the same model, with nine tenths of a sample's cost gone",
        effort=Effort.LINES,
        estimate=cached,
    )
