"""Training on a CPU with fewer threads than cores, or with more threads and workers than cores."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, LoaderReport
from ..setup_facts import ranks_here
from ..vocabulary import Kind, Stage
from .finding import ms, percent, timed_finding
from .thresholds import CROWDED_SHARE, LARGE_OPERATION_S, PARALLEL_SHARE, STEP_LEVELS, TAKEN_CORE

_FACTS = (
    "cpu.cores", "cpu.quota_cores", "cpu.threads", "loader.num_workers", "world_size", "cpu.numa_nodes",
    "env.omp_num_threads", "env.mkl_num_threads",
)  # fmt: skip


def find(observation: Observation) -> Finding | None:
    """Threads and workers of all ranks against the cores; silent where any of them is unknown."""
    setup = observation.setup
    cores, threads = setup.get("cpu.cores"), setup.get("cpu.threads")
    if cores is None or threads is None or setup.get("device.kind") != "cpu":
        return None
    ranks = ranks_here(setup)
    if threads * ranks + _worker_threads(observation) > cores:
        found = _too_many(observation, cores, threads)
        if found is not None:
            return found
    free = cores // ranks - _busy_workers(observation) - _taken_cores(observation)
    return _too_few(observation, free, threads) if threads < free else None


def _too_many(observation: Observation, cores: int, threads: int) -> Finding | None:
    """What is lost is at least the time the training thread waits for a core, and for workers that have none either.

    Threads that meet at the end of an operation wait for the last. More threads of one rank than cores are proof by
    themselves; those of other ranks may have cores of their own, and those of workers may idle: then waiting is.
    """
    waited, workers = observation.core_wait_share or 0.0, _worker_threads(observation)
    starved = observation.loader.core_wait_share if observation.loader is not None and workers else None
    if max(waited, starved or 0.0) < CROWDED_SHARE and threads <= cores:
        return None
    worked_s = observation.seconds(Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER)
    seconds = worked_s * max(waited, 1 - cores / threads if threads > cores else 0.0)
    seconds += observation.seconds(Stage.DATA_WAIT) if workers > cores else 0.0
    ranks = ranks_here(observation.setup)
    each = f"{threads} thread{'s' if threads != 1 else ''}" + (
        f" in each of {ranks} ranks" if ranks > 1 else ""
    )
    beside = f" beside {workers} of its loader workers" if workers else ""
    return timed_finding(
        observation,
        Kind.CPU_THREADS,
        seconds,
        cause="oversubscribed",
        basis="derived",
        summary=(
            f"{each}{beside} share {cores} cores and wait for each other: about {ms(seconds)} of every "
            f"step ({percent(seconds / observation.step_s)})."
        ),
        evidence=_evidence(observation),
    )


def _too_few(observation: Observation, free: int, threads: int) -> Finding | None:
    model_s, operations = observation.seconds(Stage.FORWARD, Stage.BACKWARD), observation.operations_per_step
    if not operations or model_s / operations < LARGE_OPERATION_S:
        return None
    seconds = PARALLEL_SHARE * model_s * (1 - threads / free)
    return timed_finding(
        observation,
        Kind.CPU_THREADS,
        seconds,
        cause="too-few-threads",
        basis="derived",
        summary=(
            f"Operations run on {threads} of {free} free cores{_told_so(observation, threads)}: about {ms(seconds)} of "
            f"every step ({percent(seconds / observation.step_s)}) would go with a thread for each."
        ),
        evidence=_evidence(observation),
    )


def _told_so(observation: Observation, threads: int) -> str:
    if observation.setup.get("env.omp_num_threads") != threads:
        return ""
    return f", as OMP_NUM_THREADS={threads} says (torchrun sets it to 1 unless it is set)"


def _busy_workers(observation: Observation) -> int:
    """Cores that loader workers keep busy, rounded up."""
    loader = observation.loader
    if loader is None or loader.num_workers == 0:
        return 0
    busy = sum(worker.busy_share for worker in loader.workers) * loader.cpu_share
    return int(busy + 0.5)


def _taken_cores(observation: Observation) -> int:
    """Cores that programs beside this run kept busy; none where the machine was not sampled.

    The machine may have cores that this run may not use: work there takes none of its own.
    """
    host = observation.telemetry.host if observation.telemetry is not None else None
    if host is None or host.cores_busy is None or host.tree_cores_busy is None:
        return 0
    others = max(host.cores_busy - host.tree_cores_busy, 0.0)
    foreign = max(observation.setup.get("cpu.machine_cores", 0) - observation.setup.get("cpu.cores", 0), 0)
    return int(max(others - foreign, 0.0) + 1 - TAKEN_CORE)


def _worker_threads(observation: Observation) -> int:
    """Threads of this rank's loader workers that want a core: whole pools, or the crowd of single ones."""
    loader = observation.loader
    if loader is None:
        return 0
    if (loader.worker_threads or 1) > 1:
        return loader.num_workers * (loader.worker_threads or 1)
    return _crowd_of_workers(observation, loader)


def _crowd_of_workers(observation: Observation, loader: LoaderReport) -> int:
    """Workers of one thread that compute or wait for a core, if they leave none to the training; else 0.

    Some workers beside PyTorch's pool of a thread for each core are usual. Where the loop waits for data, that is the
    finding.
    """
    waits = observation.share(Stage.DATA_WAIT) >= STEP_LEVELS[Kind.DATA_LOADING].moderate
    wanted = min(loader.cpu_share + (loader.core_wait_share or 0.0), 1.0)
    running = int(sum(worker.busy_share for worker in loader.workers) * wanted + 0.5)
    crowd = running + ranks_here(observation.setup) > observation.setup["cpu.cores"]
    return running if crowd and not waits else 0


def _evidence(observation: Observation) -> tuple[Fact, ...]:
    facts = [
        Fact(name=name, value=observation.setup[name], basis="setup")
        for name in _FACTS
        if name in observation.setup
    ]
    if observation.core_wait_share is not None:
        facts.append(Fact(name="share of time waiting for a core", value=observation.core_wait_share))
    if _taken_cores(observation):
        facts.append(Fact(name="cores that other programs kept busy", value=_taken_cores(observation)))
    if _worker_threads(observation):
        facts.append(Fact(name="threads of loader workers", value=_worker_threads(observation)))
    return tuple(facts)
