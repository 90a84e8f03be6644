"""The training thread waits for the next batch."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from ..observation import Observation
from ..report import Fact, Finding, LoaderReport, TransformReport, Where
from ..setup_facts import IN_MEMORY, ranks_here
from ..vocabulary import Kind, Severity, Stage
from .finding import ms, percent, short_path, stage_finding
from .thresholds import (
    CROWDED_SHARE,
    DOMINANT_PART,
    NOTED_CORE_WAIT_SHARE,
    SELDOM_EMPTY_SHARE,
    SLOW_WORKER_BATCHES,
    SLOW_WORKER_FACTOR,
    STARVED_SHARE,
    WAITING_CPU_SHARE,
)


@dataclass(frozen=True)
class _SlowWorker:
    """A loader worker that is slower than its fellows: seconds for a batch, its own and the others' median."""

    worker: int
    batch_s: float
    others_s: float


def find(observation: Observation) -> Finding | None:
    """Waiting for data: whether loading computes, waits, is starved of cores or restarted, and in which line."""
    share, loader = observation.share(Stage.DATA_WAIT), observation.loader
    workers = observation.setup.get("loader.num_workers")
    cause = _cause(observation, loader, workers)
    where, slow = _where(observation, loader), _slow_worker(loader)
    wait = f"waits {ms(observation.seconds(Stage.DATA_WAIT))} of every step ({percent(share)}) for data"
    found = stage_finding(
        observation,
        Kind.DATA_LOADING,
        Stage.DATA_WAIT,
        cause=cause,
        summary=f"The training loop {wait}: {_explain(cause, loader, workers)}{_at(where)}{_lies(observation, cause)}"
        f"{_slowest(slow)}.",
        where=where if slow is None else (*where, Where(worker=slow.worker)),
        evidence=(*_evidence(observation, loader, workers), *_slow_worker_facts(slow)),
    )
    return found if found is None or loader is None or not workers else _handed_over(found, loader)


def _handed_over(found: Finding, loader: LoaderReport) -> Finding:
    """A moderate wait is a note where workers keep up: few fetches found the queue empty, handing over is the rest.

    A high one is more than handing over takes. Queues are seldom empty too where only the first fetch of an epoch
    waits for new workers, and where workers leave the training no core.
    """
    empty = loader.empty_share
    if empty is None or empty > SELDOM_EMPTY_SHARE or found.severity is not Severity.MODERATE:
        return found
    if found.cause in ("worker-restart", "oversubscribed"):
        return found
    told = f"Only {percent(empty)} of its fetches found no batch ready: handing batches over takes the rest."
    return found.model_copy(update={"severity": Severity.NOTE, "summary": f"{found.summary} {told}"})


def _cause(observation: Observation, loader: LoaderReport | None, workers: int | None) -> str | None:
    if workers is None:
        return None
    if loader is None:
        return "main-process-loading" if workers == 0 else None
    kept = bool(observation.setup.get("loader.persistent_workers"))
    if not kept and _restart_s(observation, loader) >= DOMINANT_PART * observation.seconds(Stage.DATA_WAIT):
        return "worker-restart"
    if loader.pinning is not None and loader.pinning.wait_share >= DOMINANT_PART:
        return "pinning"
    if loader.collate_wall_s >= DOMINANT_PART * loader.batch_wall_s:
        return "collate"
    if workers == 0:
        return "main-process-loading"
    cores, ranks = observation.setup.get("cpu.cores"), ranks_here(observation.setup)
    full = cores is not None and workers * ranks >= cores
    starved = loader.core_wait_share or 0.0
    if (full and starved >= STARVED_SHARE) or _pools_beyond_cores(loader, workers * ranks, cores):
        return "oversubscribed"
    if _cpu_share(loader) <= WAITING_CPU_SHARE:
        return "storage-latency"
    return "cpu-transform" if full else "too-few-workers"


def _pools_beyond_cores(loader: LoaderReport, workers: int, cores: int | None) -> bool:
    """Whether workers that compute with several threads each have more of them than cores, and wait for one.

    Numbers alone are no proof: a pool may idle.
    """
    threads = loader.worker_threads or 1
    if cores is None or threads <= 1 or workers * threads <= cores:
        return False
    return (loader.core_wait_share or 0.0) >= CROWDED_SHARE


def _restart_s(observation: Observation, loader: LoaderReport) -> float:
    """Seconds per step that starting workers anew takes within the timed steps."""
    return (loader.start_s or 0.0) * loader.starts / observation.step_time.n


def _explain(cause: str | None, loader: LoaderReport | None, workers: int | None) -> str:
    count = f"{workers} worker process{'es' if workers != 1 else ''}"
    if cause is None or loader is None:
        return "how its batches are made was not seen"
    match cause:
        case "main-process-loading":
            return f"it makes each batch itself, with no worker process, and a batch takes {_kind_of_work(loader)}"
        case "worker-restart":
            return f"its {count} were started anew {loader.starts} times, {ms(loader.start_s or 0)} each time"
        case "pinning":
            return f"its batches are being copied to page-locked memory, {_pinning(loader)}"
        case "collate":
            return f"collating takes {ms(loader.collate_wall_s)} of the {ms(loader.batch_wall_s)} of a batch"
        case "oversubscribed":
            waited = percent(loader.core_wait_share or 0)
            return f"its {count}{_each(loader)} wait {waited} of their time for a free core"
        case _:
            return f"in each of {count} a batch takes {_kind_of_work(loader)}"


def _pinning(loader: LoaderReport) -> str:
    seconds = 0.0 if loader.pinning is None else loader.pinning.wall_s
    who = (
        "one thread does that for all workers"
        if loader.num_workers
        else "the training thread does that itself"
    )
    return f"{ms(seconds)} for each ({who})"


def _each(loader: LoaderReport) -> str:
    threads = loader.worker_threads or 1
    return f" of {threads} threads each" if threads > 1 else ""


def _cpu_share(loader: LoaderReport) -> float:
    """CPU seconds per wall second of making a batch on a core of its own: waiting for a core does not count."""
    return min(loader.cpu_share / max(1 - (loader.core_wait_share or 0.0), loader.cpu_share), 1.0)


def _kind_of_work(loader: LoaderReport) -> str:
    """How long a batch takes, and how much of that is spent on what; the parts are those of the evidence."""
    took, for_core, computing = (
        ms(loader.batch_wall_s),
        loader.core_wait_share or 0.0,
        min(loader.cpu_share, 1.0),
    )
    if for_core >= NOTED_CORE_WAIT_SHARE:
        return f"{took}, {percent(computing)} of it computing and {percent(for_core)} waiting for a free core"
    if _cpu_share(loader) <= WAITING_CPU_SHARE:
        return f"{took}, {percent(1 - computing)} of it waiting, not computing"
    return f"{took}, {percent(computing)} of it computing"


def _where(observation: Observation, loader: LoaderReport | None) -> tuple[Where, ...]:
    """The slowest transform if transforms make up most of a sample, then the lines that loading was seen in."""
    lines = observation.lines_of(Stage.DATA_WAIT)
    places = [Where(file=line.file, line=line.line, function=line.function) for line in lines]
    if loader is not None and loader.lines:
        places = [Where(file=line.file, line=line.line, function=line.function) for line in loader.lines[:3]]
    slowest = max(loader.transforms, key=lambda transform: transform.wall_s, default=None) if loader else None
    if loader is None or slowest is None or slowest.wall_s < DOMINANT_PART * loader.sample_wall_s:
        return tuple(places)
    return (_place_of(slowest, places), *places)


def _place_of(transform: TransformReport, places: list[Where]) -> Where:
    """The line that a transform was seen in, if it was; else where it is defined."""
    seen = next((p for p in places if (p.function or "").split(".")[0] == transform.name), None)
    if seen is not None:
        return seen.model_copy(update={"transform": transform.name})
    return Where(file=transform.file, line=transform.line, transform=transform.name)


def _slow_worker(loader: LoaderReport | None) -> _SlowWorker | None:
    """The worker whose batches take far longer than the others': all wait for it, as batches are taken in turn."""
    told = [] if loader is None else loader.workers
    told = [one for one in told if one.worker is not None and one.batches >= SLOW_WORKER_BATCHES]
    if len(told) < 2:
        return None
    slowest = max(told, key=lambda one: one.batch_s)
    others_s = median(one.batch_s for one in told if one is not slowest)
    if slowest.worker is None or others_s <= 0 or slowest.batch_s < SLOW_WORKER_FACTOR * others_s:
        return None
    return _SlowWorker(slowest.worker, slowest.batch_s, others_s)


def _lies(observation: Observation, cause: str | None) -> str:
    """What the files lie on, where waiting for them is the cause and they do not lie in memory."""
    storage = observation.setup.get("loader.storage")
    if cause != "storage-latency" or storage is None or storage in IN_MEMORY:
        return ""
    return f"; its files lie on {storage}"


def _slowest(slow: _SlowWorker | None) -> str:
    if slow is None:
        return ""
    return f"; worker {slow.worker} takes {ms(slow.batch_s)} for a batch, the others {ms(slow.others_s)}"


def _slow_worker_facts(slow: _SlowWorker | None) -> list[Fact]:
    if slow is None:
        return []
    return [
        Fact(name=f"one batch in worker {slow.worker}", value=slow.batch_s * 1e3, unit="ms"),
        Fact(name="one batch in the middle one of the others", value=slow.others_s * 1e3, unit="ms"),
    ]


def _at(where: tuple[Where, ...]) -> str:
    if not where or where[0].file is None:
        return ""
    name = where[0].transform or where[0].function
    return f", mostly at {short_path(where[0].file)}:{where[0].line} ({name})"


def _evidence(observation: Observation, loader: LoaderReport | None, workers: int | None) -> tuple[Fact, ...]:
    facts = [] if workers is None else [Fact(name="loader.num_workers", value=workers, basis="setup")]
    storage = observation.setup.get("loader.storage")
    if storage is not None:
        facts.append(Fact(name="loader.storage", value=storage, basis="setup"))
    if loader is not None:
        facts += [
            Fact(name="one batch, in one process", value=loader.batch_wall_s * 1e3, unit="ms"),
            Fact(name="of it computing", value=loader.batch_cpu_s * 1e3, unit="ms"),
            Fact(name="one sample", value=loader.sample_wall_s * 1e3, unit="ms"),
            Fact(name="collating a batch", value=loader.collate_wall_s * 1e3, unit="ms"),
        ]
        if loader.pinning is not None:
            facts += [
                Fact(name="pinning a batch", value=loader.pinning.wall_s * 1e3, unit="ms"),
                Fact(
                    name="share of the wait in which a batch was being pinned",
                    value=loader.pinning.wait_share,
                ),
            ]
        if loader.core_wait_share is not None:
            facts.append(Fact(name="share of batch time waiting for a core", value=loader.core_wait_share))
        if loader.empty_share is not None:
            facts.append(Fact(name="share of fetches that found no batch ready", value=loader.empty_share))
    return tuple(facts)
