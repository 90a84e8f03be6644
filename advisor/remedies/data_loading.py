"""Against waiting for data: workers where cores or waiting allow, else cheaper samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...profiler.report import LoaderReport
from ...profiler.setup_facts import IN_MEMORY, ranks_here
from ..predict.estimate import StepEstimate
from ..predict.loading import DECODED, LEAN, STORED, LoadingModel, loading_model
from ..proposal import Case, Declined, Effort, Fit, Proposal
from .batches_by_hand import propose as by_hand
from .cpu_threads import most_removed_s
from .slow_samples import Suspect, suspects

#: What the catalog lists beside is for a ``DataLoader``, which batches made by hand have none of.
COMPLETE = frozenset({"batches-by-hand"})
_MODEL = (
    "throughput model on this run's measured wall and CPU seconds per batch, its cores and its training time"
)
_LEFT = "the same model, with {} % of a sample's cost left"
#: Workers are proposed only where the model sees at least this much.
WORTHWHILE = 1.03
#: A sample that is made faster than this is Python's own cost of calling for it.
TINY_SAMPLE_S, MANY_SAMPLES = 100e-6, 128
#: Below this share of waiting, the device has no time to spare for transforms.
SPARE_SHARE = 0.2
#: What a sample costs at most that is kept in memory: an index, which copies nothing. Collating it is counted apart.
KEPT_SAMPLE_S = 10e-6
#: What a sample costs at least that array code makes: a few calls of NumPy or torch.
LEAN_SAMPLE_S = 20e-6
#: What an epoch's turn costs where workers are kept: each is told, answers, and makes a first batch. Measured with two:
#: 9 to 12 ms.
KEPT_START_S = 0.01
GB = 1e9


@dataclass(frozen=True)
class _Cheaper:
    """The step with samples that cost less; what the model does not explain of the measured step stays."""

    case: Case
    model: LoadingModel
    loader: LoaderReport
    workers: int

    @property
    def kept(self) -> float:
        """What stays of the cost of a sample that is kept in memory."""
        return min(STORED, self._share(KEPT_SAMPLE_S))

    @property
    def lean(self) -> float:
        """What stays of the cost of a sample that lean code makes."""
        return max(LEAN, self._share(LEAN_SAMPLE_S))

    def _share(self, sample_s: float) -> float:
        now_s = self.loader.sample_wall_s
        return min(sample_s / now_s, 1.0) if now_s > 0 else 1.0

    def step(self, remains: float, *, waiting_too: bool = False) -> StepEstimate:
        """With so much of a sample's computing left, and of its waiting too where it is no longer read."""
        samples = self.loader.samples_per_batch * (self.case.report.batches_per_step or 1.0)
        cpu_s = (1 - remains) * self.loader.sample_cpu_s * samples
        wall_s = (1 - remains) * self.loader.sample_wall_s * samples
        return self.after(wall_s if waiting_too else min(cpu_s, wall_s), cpu_s)

    def after(self, wall_s: float, cpu_s: float) -> StepEstimate:
        """With so many seconds per step gone from loading; at worst nothing changes."""
        made = self.model.cheaper_by(wall_s, cpu_s).step(self.workers)
        rest_s = max(self.case.step_s - self.model.step(self.workers).likely_s, 0.0)
        likely_s = made.likely_s + rest_s
        return StepEstimate(min(made.best_s + rest_s, likely_s), likely_s, max(self.case.step_s, likely_s))


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """Worker settings by the throughput model, then ways to make a sample cheaper."""
    if case.cause == "batches-by-hand":
        yield from by_hand(case)
        return
    model, loader = loading_model(case.report), case.report.loader
    workers = case.number("loader.num_workers")
    if model is None or loader is None or workers is None:
        yield from _from_trace(case)
        return
    if case.cause == "pinning":
        yield from _pinned_elsewhere(case, loader, int(workers))
        return
    yield from _worker_count(case, model, int(workers))
    if workers > 0:
        yield from _kept_workers(case, loader)
        yield from _threads(case, model, loader, int(workers))
    yield from _whole_batches(case, model, loader, int(workers))
    yield from _store(case, model, loader, int(workers))
    yield from _cheaper_samples(case, model, loader, int(workers))


def _pinned_elsewhere(case: Case, loader: LoaderReport, workers: int) -> Iterator[Proposal | Declined]:
    """Against waiting for batches to be pinned: in a thread beside the training, and in fewer bytes."""
    pinning_s = 0.0 if loader.pinning is None else loader.pinning.wall_s
    took = f"pinning takes {pinning_s * 1e3:.1f} ms of each batch"
    if workers > 0:
        yield Declined("dataloader-num-workers", f"{took}, in one thread however many workers there are")
    else:
        yield Proposal(
            method="dataloader-num-workers",
            knob="loader.num_workers=1",
            how="DataLoader(..., num_workers=1, persistent_workers=True)  # a thread of the loader then pins",
            basis=f"{took}, in the training thread; a thread beside it hides what the rest of a step leaves room for",
            effort=Effort.SWITCH,
            estimate=case.remaining(0.05, 0.5, 1.0),
            fit=Fit.CAUSE,
        )
    if case.setup("task.domain") == "vision":
        yield Proposal(
            method="uint8-transfer",
            how="collate images as uint8, and convert and normalise on the device: x.to(device).float().div_(255)",
            basis=f"{took}; a quarter of the bytes, if they are 32-bit floats now",
            effort=Effort.LINES,
            estimate=case.remaining(0.25, 0.4, 1.0),
            fit=Fit.CAUSE,
        )


def _worker_count(case: Case, model: LoadingModel, workers: int) -> Iterator[Proposal | Declined]:
    best = model.best_workers()
    fewer = max(best, int(model.cores))
    if case.cause == "oversubscribed" and fewer < workers:
        yield _fewer_workers(case, model, workers, fewer)
        return
    estimate = model.step(best)
    in_the_model = model.step(workers).likely_s / estimate.likely_s
    if best == workers or min(in_the_model, case.step_s / estimate.likely_s) < WORTHWHILE:
        yield Declined("dataloader-num-workers", _no_more_workers(case, model, workers))
        return
    keep = ", persistent_workers=True" if best > 0 else ""
    yield Proposal(
        method="dataloader-num-workers",
        knob=f"loader.num_workers={best}",
        how=f"DataLoader(..., num_workers={best}{keep})  # it is {workers} now",
        basis=_MODEL,
        effort=Effort.SWITCH,
        estimate=estimate,
        fit=Fit.CAUSE,
        relieves=False,
    )


def _fewer_workers(case: Case, model: LoadingModel, workers: int, fewer: int) -> Proposal:
    """Workers that wait for cores take them from the training too: it gets back what it waited for one itself.

    They stay as many as the cores: what the training's threads computed in a crowd is in part waiting for one
    another, so that the model holds it for busier than it is. On two cores, 2 workers instead of 16 measured 1.24 times
    as fast, and one, which the model held for as good, 0.90 times.
    """
    waited = case.report.core_wait_share or 0.0
    freed = replace(model, training_s=model.training_s * (1 - waited))
    return Proposal(
        method="dataloader-num-workers",
        knob=f"loader.num_workers={fewer}",
        how=f"DataLoader(..., num_workers={fewer})  # it is {workers} now, on {model.cores:g} cores",
        basis=f"{_MODEL}; at best the training thread waits for a core no more ({waited:.0%} of its time now), at "
        "worst nothing changes".replace("%", " %"),
        effort=Effort.SWITCH,
        estimate=_at_best(case, freed.step(fewer)),
        fit=Fit.CAUSE,
        removes_s=most_removed_s(case),
    )


def _at_best(case: Case, freed: StepEstimate) -> StepEstimate:
    """At best what the model says of a step with free cores, at worst the step as it is, likely halfway."""
    freed_s = min(freed.best_s, case.step_s)
    return StepEstimate(freed_s, (freed_s + case.step_s) / 2, case.step_s)


def _no_more_workers(case: Case, model: LoadingModel, workers: int) -> str:
    busy_s = model.cpu_s + model.training_cpu_s
    return (
        f"{workers} workers on {model.cores:g} cores: a step takes {busy_s * 1e3:.1f} ms of CPU time, so that other "
        f"numbers of workers bring less than {WORTHWHILE - 1:.0%} by the throughput model".replace("%", " %")
    )


def _kept_workers(case: Case, loader: LoaderReport) -> Iterator[Proposal]:
    step = case.report.step_time
    if loader.starts == 0 or case.setup("loader.persistent_workers") or step is None:
        return
    restart_s = min(max((loader.start_s or 0.0) - KEPT_START_S, 0.0) * loader.starts / step.n, case.exposed_s)
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
        fit=Fit.CAUSE if case.cause == "worker-restart" else Fit.KIND,
    )


def _threads(case: Case, model: LoadingModel, loader: LoaderReport, workers: int) -> Iterator[Proposal]:
    """The model leaves waiting for cores out: it says what workers do that have their cores."""
    waiting = loader.core_wait_share
    if waiting is None or case.cause != "oversubscribed":
        return
    yield Proposal(
        method="worker-thread-limit",
        knob="loader.worker_threads=1",
        how="worker_init_fn: torch.set_num_threads(1), cv2.setNumThreads(0); and OMP_NUM_THREADS=1",
        basis=f"workers wait {waiting:.0%} of a batch's time for a core; at best the same model without, at worst "
        "nothing".replace("%", " %"),
        effort=Effort.SWITCH,
        estimate=_at_best(case, model.step(workers)),
        fit=Fit.CAUSE,
        removes_s=most_removed_s(case),
    )


def _whole_batches(case: Case, model: LoadingModel, loader: LoaderReport, workers: int) -> Iterator[Proposal]:
    tiny = loader.sample_wall_s < TINY_SAMPLE_S and loader.samples_per_batch >= MANY_SAMPLES
    if case.cause != "collate" and not tiny:
        return
    gone = (1 - LEAN) * (case.report.batches_per_step or 1.0)
    lean = _Cheaper(case, model, loader, workers).after(gone * loader.batch_wall_s, gone * loader.batch_cpu_s)
    yield Proposal(
        method="batched-getitems",
        how="def __getitems__(self, indices): return self.x[indices], self.y[indices]  # collate_fn=lambda b: b",
        basis=f"the same model, with {LEAN:.0%} of a batch's cost left: one call for "
        f"{loader.samples_per_batch:.0f}".replace("%", " %"),
        effort=Effort.LINES,
        estimate=lean,
        fit=Fit.CAUSE,
    )


def _store(
    case: Case, model: LoadingModel, loader: LoaderReport, workers: int
) -> Iterator[Proposal | Declined]:
    """Against waiting for storage: nearer data, and fewer, longer reads."""
    waiting_s = max(model.wall_s - model.cpu_s, 0.0)
    if case.cause != "storage-latency" and waiting_s < 0.5 * model.wall_s:
        return
    share = waiting_s / model.wall_s if model.wall_s > 0 else 0.0
    told = (
        f"waiting is {share:.0%} of the time of a batch; the same model with nine tenths of it gone".replace(
            "%", " %"
        )
    )
    cheaper, storage = _Cheaper(case, model, loader, workers), case.setup("loader.storage")
    if storage in IN_MEMORY:
        yield Declined("local-disk-cache", f"the data set's files lie in memory already ({storage})")
        return
    lie = "" if storage is None else f" (its files lie on {storage})"
    yield Proposal(
        method="local-disk-cache",
        how=f"copy the data to a local NVMe disk or to /dev/shm before training{lie}; the first epoch "
        "warms the page cache, so judge later ones",
        basis=told,
        effort=Effort.LINES,
        estimate=cheaper.after(0.9 * waiting_s, 0.0),
        fit=Fit.CAUSE,
    )
    yield Proposal(
        method="webdataset",
        how="pack samples into files of 100 MB and more (tar shards, LMDB, one array file), read one after the other",
        basis="the same model, with seven tenths of the waiting gone",
        effort=Effort.LINES,
        estimate=cheaper.after(0.7 * waiting_s, 0.0),
        fit=Fit.CAUSE,
    )


def _cheaper_samples(
    case: Case, model: LoadingModel, loader: LoaderReport, workers: int
) -> Iterator[Proposal | Declined]:
    cheaper = _Cheaper(case, model, loader, workers)
    seen = suspects(case)
    yield from _by_suspect(case, seen, cheaper)
    yield _stored(case, loader, cheaper.step(STORED))
    yield from _on_the_device(case, cheaper.step(0.2))
    yield from _kept_in_memory(case, loader, cheaper)


def _by_suspect(case: Case, seen: frozenset[Suspect], cheaper: _Cheaper) -> Iterator[Proposal]:
    lean, left = cheaper.step(cheaper.lean), _LEFT.format(round(cheaper.lean * 100))
    line = "" if case.line is None else f" at {case.line}"
    if case.cause != "storage-latency" and Suspect.TOKENIZER not in seen:
        yield Proposal(
            method="lean-getitem",
            how=f"rewrite the slow part{line} with NumPy or torch on whole arrays: no table rows, "
            "no loop over elements, float32 throughout",
            basis=f"{left}: array code in place of Python's",
            effort=Effort.LINES,
            estimate=lean,
            fit=Fit.CAUSE if Suspect.PYTHON in seen else Fit.KIND,
        )
    if Suspect.ARRAY_FILE in seen:
        yield Proposal(
            method="chunked-arrays",
            how=f"rewrite the file once with chunks of one read{line}: chunks=(samples per read, …), "
            "compression lzf, blosc or none",
            basis=f"{left}; how the file is chunked was not seen",
            effort=Effort.LINES,
            estimate=lean,
            fit=Fit.CAUSE,
        )
    if Suspect.DECODER in seen or case.setup("task.domain") == "vision":
        yield Proposal(
            method="fast-image-decode-cpu",
            how="decode with a faster library (torchvision.io, TurboJPEG, pillow-simd), at the size that is needed",
            basis="the same model, with half of a sample's cost gone",
            effort=Effort.LINES,
            estimate=cheaper.step(DECODED),
            fit=Fit.CAUSE if Suspect.DECODER in seen else Fit.KIND,
        )


def _stored(case: Case, loader: LoaderReport, estimate: StepEstimate) -> Proposal:
    slowest = max(loader.transforms, key=lambda transform: transform.wall_s, default=None)
    name = (
        f"{slowest.name}, {slowest.wall_s * 1e3:.2f} ms a sample,"
        if slowest
        else "what is the same in every epoch"
    )
    tokens = Suspect.TOKENIZER in suspects(case)
    return Proposal(
        method="offline-preprocessing",
        how="tokenise the corpus once, with all cores, and store the token ids"
        if tokens
        else f"do {name} once before training, and store the result; keep only random augmentation in the data set",
        basis=_LEFT.format(round(STORED * 100)),
        effort=Effort.LINES if tokens else Effort.REWORK,
        estimate=estimate,
        fit=Fit.CAUSE if tokens else Fit.KIND,
    )


def _kept_in_memory(case: Case, loader: LoaderReport, cheaper: _Cheaper) -> Iterator[Proposal]:
    length = case.number("loader.length")
    size = (
        None if loader.bytes_per_sample is None or length is None else loader.bytes_per_sample * length / GB
    )
    amount = "" if size is None else f" (about {size:.2g} GB as they leave the data set)"
    yield Proposal(
        method="dataset-in-memory",
        how=f"keep decoded samples in memory{amount}: a tensor, or a cache in the data set, if they fit",
        basis=_LEFT.format(f"{cheaper.kept * 100:.2g}"),
        effort=Effort.LINES,
        estimate=cheaper.step(cheaper.kept, waiting_too=True),
        fit=Fit.LISTED if size is None else Fit.KIND,
    )


def _on_the_device(case: Case, estimate: StepEstimate) -> Iterator[Proposal | Declined]:
    if not case.on_gpu or case.setup("task.domain") != "vision" or case.cause == "storage-latency":
        return
    if case.finding.share < SPARE_SHARE:
        yield Declined(
            "gpu-augmentation",
            f"the device is waiting for data only {case.finding.share:.0%} of the step, and has no time to spare for "
            "transforms".replace("%", " %"),
        )
        return
    elsewhere = suspects(case) & {Suspect.ARRAY_FILE, Suspect.DECODER, Suspect.TOKENIZER}
    answers = case.cause in ("cpu-transform", "too-few-workers", "main-process-loading")
    yield Proposal(
        method="gpu-augmentation",
        how="only decode and stack uint8 in workers; crop, flip, jitter and normalise the whole batch on the device",
        basis="the same model, with four fifths of a sample's cost gone to the device, which waits now",
        effort=Effort.LINES,
        estimate=estimate,
        fit=Fit.CAUSE if answers and not elsewhere else Fit.KIND,
    )


def _from_trace(case: Case) -> Iterator[Proposal]:
    """Without the loader's own measurements: the waiting alone, as a trace or a foreign loop shows it."""
    by_itself = case.cause == "main-process-loading" or case.number("loader.num_workers") == 0
    estimate = case.what_if("data_wait_removed", likely=0.7)
    basis = (
        "replaying the trace with every batch ready in time"
        if estimate
        else "the measured waiting; what a batch costs, and in how many cores, was not measured"
    )
    cores = case.number("cpu.cores")
    workers = case.number("loader.num_workers") or 0
    free = None if cores is None else max(int(cores / ranks_here(case.report.setup)), 1)
    if free is not None and free <= workers:
        free = None
    count = "…" if free is None else str(free)
    yield Proposal(
        method="dataloader-num-workers",
        knob=None if free is None else f"loader.num_workers={count}",
        how=f"DataLoader(..., num_workers={count}, persistent_workers=True)"
        + (
            "  # it loads in the training process now"
            if by_itself
            else "  # more than now, up to the cores of a rank"
        ),
        basis=basis,
        effort=Effort.SWITCH,
        estimate=estimate or case.remaining(0.05, 0.4 if by_itself else 0.6, 1.0),
        fit=Fit.CAUSE if case.cause in ("main-process-loading", "too-few-workers") else Fit.KIND,
    )
    yield Proposal(
        method="offline-preprocessing",
        how="do what is the same in every epoch once before training, and store the result",
        basis=basis,
        effort=Effort.LINES,
        estimate=estimate or case.remaining(0.05, 0.5, 1.0),
    )
    yield Proposal(
        method="gpu-augmentation",
        how="only decode and stack uint8 in workers; crop, flip, jitter and normalise the whole batch on the device",
        basis=basis,
        effort=Effort.LINES,
        estimate=case.remaining(0.1, 0.6, 1.0),
    )
