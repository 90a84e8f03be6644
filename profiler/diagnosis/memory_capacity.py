"""Memory of the training process or of its workers grows from step to step, or a memory stands close to its limit.

It costs no time until it ends the run, so it has no share of the step and stands behind what costs time.
"""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, HostTelemetry, MemoryUse
from ..timeline.process_memory import ProcessMemory
from ..timeline.worker_memory import WorkerMemory
from ..vocabulary import Severity
from . import gpu_memory
from .finding import percent
from .gpu_memory import composition
from .memory import (
    GROWTH,
    KEPT,
    PEAK,
    forecast,
    grows,
    growth_cause,
    growth_facts,
    mega,
    memory_finding,
    peaks_in_evaluation,
)
from .thresholds import (
    AT_LIMIT_SHARE,
    COPIED_BYTES,
    COPIED_SHARE,
    DOMINANT_PART,
    KEPT_DATA_BYTES,
    LATE_COPIES_SHARE,
    NEAR_LIMIT_SHARE,
    SOON_STEPS,
)


def find(observation: Observation) -> Finding | None:
    """Growth first, for it ends every run that is long enough; the GPU's memory before the process's."""
    return (
        gpu_memory.growing(observation)
        or _growing(observation)
        or _copying(observation)
        or _shared_memory(observation)
        or gpu_memory.full(observation)
        or _near_limit(observation)
    )


def _growing(observation: Observation) -> Finding | None:
    memory = observation.memory
    growth = None if memory is None else memory.growth_bytes_per_step
    if memory is None or growth is None or not grows(memory, growth):
        return None
    cause, left = _cause(observation, memory), _steps_left(observation, memory, growth)
    ends = (
        "" if left is None else f", and ends in about {left:,.0f} steps ({_time(left * observation.step_s)})"
    )
    return memory_finding(
        observation,
        cause=cause,
        severity=Severity.HIGH if left is not None and left < SOON_STEPS else Severity.MODERATE,
        summary=(
            f"The training process's memory grows by {mega(growth)} in every step{ends}: {GROWTH[cause]}."
        ),
        evidence=(
            *_evidence(memory),
            *growth_facts(cause, memory),
            *forecast(left),
            *composition(observation.memory_use, memory),
        ),
    )


def _cause(observation: Observation, memory: ProcessMemory) -> str:
    uncollected = memory.uncollected_per_step
    if observation.setup.get("python.gc_enabled") is False and (uncollected is None or uncollected > 0):
        return "gc-disabled"
    return growth_cause(observation, memory)


def _steps_left(observation: Observation, memory: ProcessMemory, growth: float) -> float | None:
    """Steps until the process's limit, or what the machine has free, is used up."""
    host = _host(observation)
    until_full = None if host is None or host.available_bytes is None else host.available_bytes / growth
    known = [steps for steps in (memory.steps_left, until_full) if steps is not None]
    return min(known, default=None)


def _host(observation: Observation) -> HostTelemetry | None:
    return None if observation.telemetry is None else observation.telemetry.host


def _copying(observation: Observation) -> Finding | None:
    """Workers that copy, page by page, the Python objects that they share with the training process."""
    memory = observation.worker_memory
    if memory is None or not _copies(memory):
        return None
    host = _host(observation)
    free = None if host is None else host.available_bytes
    ends = free is not None and memory.shared_bytes > free
    rest = f"; {mega(memory.shared_bytes)} more can follow" + (
        f", and only {mega(free)} are free" if ends and free is not None else ""
    )
    return memory_finding(
        observation,
        cause="copy-on-write-python-objects",
        severity=Severity.HIGH if ends else Severity.MODERATE,
        summary=(
            f"{memory.workers} loader workers have copied {mega(memory.copied_bytes)} of the memory that they share "
            f"with the training process{rest}: looking at a Python object writes its reference count."
        ),
        evidence=(
            Fact(name="workers' copies of shared memory", value=memory.copied_bytes, unit="bytes"),
            Fact(name="still shared, over all workers", value=memory.shared_bytes, unit="bytes"),
            Fact(name="one worker's memory", value=memory.resident_bytes, unit="bytes"),
        ),
    )


def _copies(memory: WorkerMemory) -> bool:
    return (
        memory.copied_bytes >= COPIED_BYTES
        and memory.copied_bytes >= COPIED_SHARE * memory.workers * memory.resident_bytes
        and memory.late_bytes >= LATE_COPIES_SHARE * memory.copied_bytes
    )


def _shared_memory(observation: Observation) -> Finding | None:
    """Batches that wait for the training lie in shared memory, which containers often keep small."""
    size, host = observation.setup.get("memory.shared_bytes"), _host(observation)
    used = None if host is None else host.shared_bytes
    if not size or used is None or not observation.setup.get("loader.num_workers"):
        return None
    share = used / size
    if share < NEAR_LIMIT_SHARE:
        return None
    return memory_finding(
        observation,
        cause="shm-limit",
        severity=Severity.HIGH if share >= AT_LIMIT_SHARE else Severity.MODERATE,
        summary=(
            f"Shared memory (/dev/shm) has {percent(share)} of its {mega(size)} in use: loader workers hand batches "
            "over in it, and the next that finds no room ends the run."
        ),
        evidence=(
            Fact(name="shared memory in use", value=used, unit="bytes"),
            Fact(name="shared memory", value=size, unit="bytes", basis="setup"),
        ),
    )


def _near_limit(observation: Observation) -> Finding | None:
    memory = observation.memory
    share = None if memory is None else memory.limit_share
    if memory is None or share is None or share < NEAR_LIMIT_SHARE:
        return None
    evaluates = peaks_in_evaluation(observation, memory)
    kept = None if evaluates else _kept_beside_the_model(observation.memory_use, memory)
    why = f": {GROWTH['eval-without-no-grad']}" if evaluates else ""
    if kept is not None:
        why = f": {mega(kept)} are in use at all times and no part of the model, such as data that the script keeps"
    return memory_finding(
        observation,
        cause="eval-without-no-grad" if evaluates else "near-limit",
        severity=Severity.HIGH if share >= AT_LIMIT_SHARE else Severity.MODERATE,
        summary=(
            f"The training process uses {percent(share)} of the memory that it may use{why}. A larger batch or a "
            "longer sample ends the run."
        ),
        evidence=(
            *_evidence(memory),
            *composition(observation.memory_use, memory),
            *([] if kept is None else [Fact(name=KEPT, value=kept, unit="bytes", basis="derived")]),
        ),
    )


def _kept_beside_the_model(use: MemoryUse | None, memory: ProcessMemory) -> int | None:
    """Bytes in use whatever a step makes, without the model's tensors; None where they are no large part of it."""
    if use is None or use.on_device or not use.parts or memory.lowest_bytes is None:
        return None
    kept = memory.lowest_bytes - sum(part.bytes for part in use.parts if part.basis == "measured")
    return kept if kept >= max(KEPT_DATA_BYTES, DOMINANT_PART * memory.peak_bytes) else None


def _evidence(memory: ProcessMemory) -> tuple[Fact, ...]:
    facts = [Fact(name=PEAK, value=memory.peak_bytes, unit="bytes")]
    if memory.growth_bytes_per_step is not None:
        facts.append(
            Fact(name="growth per step", value=memory.growth_bytes_per_step, unit="bytes", basis="derived")
        )
    if memory.limit_bytes is not None:
        facts.append(Fact(name="memory limit", value=memory.limit_bytes, unit="bytes", basis="setup"))
    if memory.uncollected_per_step:
        facts.append(Fact(name="objects not collected, more per step", value=memory.uncollected_per_step))
    return tuple(facts)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 2 * 3600 else f"{seconds / 3600:.0f} hours"
