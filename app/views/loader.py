"""The loader part of a diagnosis: how a batch is made, by which workers, transforms and lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...profiler.diagnosis.finding import short_path
from ...profiler.report import LoaderLine, LoaderReport, Report, TransformReport, WorkerReport
from . import format as text
from .diagnosis import Figure

MAX_ROWS = 12


@dataclass(frozen=True)
class CostRow:
    """Wall time of a piece of loading per sample, split into computing and waiting; ms."""

    name: str
    place: str
    cpu_ms: float
    wait_ms: float
    cpu: str
    wait: str


@dataclass(frozen=True)
class LoaderView:
    """All that is shown of the loader.

    Attributes:
        costs: transforms by wall time, then the whole sample, collating and pinning, per sample.
        workers, lines: tables, ready to be shown.
    """

    caption: str
    figures: tuple[Figure, ...]
    costs: tuple[CostRow, ...]
    workers: tuple[dict[str, str], ...]
    lines: tuple[dict[str, str], ...]


def loader_view(report: Report) -> LoaderView | None:
    """The loader of a report; None where none was recorded."""
    loader = report.loader
    if loader is None:
        return None
    return LoaderView(
        caption=_caption(loader),
        figures=tuple(_figures(loader)),
        costs=tuple(_costs(loader)),
        workers=tuple(_worker(worker) for worker in loader.workers),
        lines=tuple(_line(line) for line in loader.lines[:MAX_ROWS]),
    )


def _caption(loader: LoaderReport) -> str:
    return (
        f"From {text.count(loader.batches, 'batch' if loader.batches == 1 else 'batche')} "
        f"of {loader.samples_per_batch:,.4g} samples that were made during the timed steps."
    )


def _figures(loader: LoaderReport) -> Iterator[Figure]:
    made_by = text.count(loader.num_workers, "worker") if loader.num_workers else "none"
    detail = "make batches" if loader.num_workers else "the training process loads by itself"
    yield Figure("Workers", made_by, detail, "Worker processes of the training loader.")
    yield Figure(
        "A batch takes",
        text.duration(loader.batch_wall_s),
        f"{text.duration(loader.batch_cpu_s)} of it computing",
        "Mean wall time in which one process makes one batch: its samples, and collating them.",
    )
    yield Figure(
        "Computing",
        text.percent(loader.cpu_share),
        _waiting(loader),
        "CPU seconds per wall second while making a batch; the rest waits for storage, locks, sleep or a core.",
    )
    yield _empty(loader)
    yield _start(loader)


def _waiting(loader: LoaderReport) -> str:
    if loader.core_wait_share is None:
        return "of the time of a batch"
    return f"{text.percent(loader.core_wait_share)} waits for a core"


def _empty(loader: LoaderReport) -> Figure:
    told = "Share of fetches in which the training loop found no batch ready."
    if loader.empty_share is None:
        return Figure("Queue empty", "n/a", "because nothing is queued without workers", told)
    return Figure("Queue empty", text.percent(loader.empty_share), "of the fetches", told)


def _start(loader: LoaderReport) -> Figure:
    told = "Cost of an epoch boundary to the training thread: ending workers, starting them, the first batch."
    if loader.start_s is None:
        return Figure("Start-up", "n/a", "because no epoch began in what was recorded", told)
    starts = f"workers started {loader.starts:,}× in the timed steps"
    return Figure(
        "Start-up", text.duration(loader.start_s), starts if loader.num_workers else "per epoch", told
    )


def _costs(loader: LoaderReport) -> Iterator[CostRow]:
    ordered = sorted(loader.transforms, key=lambda one: -one.wall_s)
    yield from (_transform(found) for found in ordered[:MAX_ROWS])
    name = "one sample, all in all" if ordered else "one sample"
    yield _cost(name, "", loader.sample_wall_s, loader.sample_cpu_s)
    if loader.samples_per_batch > 0:
        per = loader.samples_per_batch
        yield _cost("collating, per sample", "", loader.collate_wall_s / per, loader.collate_cpu_s / per)
        if loader.pinning is not None:
            yield _cost("pinning, per sample", "", loader.pinning.wall_s / per, loader.pinning.cpu_s / per)


def _transform(found: TransformReport) -> CostRow:
    place = "" if found.file is None else short_path(found.file)
    place = place if found.line is None or not place else f"{place}:{found.line}"
    return _cost(found.name, place, found.wall_s, found.cpu_s)


def _cost(name: str, place: str, wall_s: float, cpu_s: float) -> CostRow:
    waits_s = max(0.0, wall_s - cpu_s)
    computes_s = min(cpu_s, wall_s)
    return CostRow(
        name, place, computes_s * 1e3, waits_s * 1e3, text.duration(computes_s), text.duration(waits_s)
    )


def _worker(worker: WorkerReport) -> dict[str, str]:
    return {
        "worker": "training process" if worker.worker is None else f"worker {worker.worker}",
        "batches": text.count(worker.batches),
        "busy": text.percent(worker.busy_share),
        "per batch": text.duration(worker.batch_s),
    }


def _line(line: LoaderLine) -> dict[str, str]:
    return {
        "line": f"{short_path(line.file)}:{line.line}",
        "function": line.function,
        "share of loading": text.percent(line.share),
        "seen in": text.count(line.samples, "sample"),
    }
