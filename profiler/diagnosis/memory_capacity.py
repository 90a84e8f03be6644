"""Memory of the training grows from step to step, or stands close to its limit: of the process, or of the GPU.

It costs no time until it ends the run, so it has no share of the step and stands behind what costs time.
"""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, MemoryUse
from ..timeline.memory_use import ACTIVATIONS, DeviceMemory
from ..timeline.process_memory import ProcessMemory
from ..vocabulary import Kind, Severity
from .finding import percent
from .thresholds import (
    AT_LIMIT_SHARE,
    DOMINANT_PART,
    FRAGMENTED_SHARE,
    GROWTH_BYTES,
    GROWTH_SHARE,
    NEAR_LIMIT_SHARE,
    RISING_SHARE,
    SOON_STEPS,
    confidence,
)

_DEVICE, _PROCESS = "The GPU's memory", "The training process's memory"


def find(observation: Observation) -> Finding | None:
    """Growth first, for it ends every run that is long enough; the GPU's memory before the process's."""
    process, device = observation.memory, observation.device_memory
    return (
        (None if device is None else _growing(observation, device.growth, _DEVICE))
        or (None if process is None else _growing(observation, process, _PROCESS))
        or (None if device is None else _device_full(observation, device))
        or (None if process is None else _process_full(observation, process))
    )


def _grows(memory: ProcessMemory, growth: float) -> bool:
    total = growth * memory.steps
    return (
        memory.rising_share >= RISING_SHARE
        and total >= GROWTH_BYTES
        and total >= GROWTH_SHARE * memory.peak_bytes
    )


def _growing(observation: Observation, memory: ProcessMemory, whose: str) -> Finding | None:
    growth = memory.growth_bytes_per_step
    if growth is None or not _grows(memory, growth):
        return None
    left = memory.steps_left
    forecast = "" if left is None else f", and reaches its limit in about {left:.0f} steps"
    return _finding(
        observation,
        memory,
        cause="growing-memory",
        severity=Severity.HIGH if left is not None and left < SOON_STEPS else Severity.MODERATE,
        summary=(
            f"{whose} grows by {_mega(growth)} in every step{forecast}: "
            "something keeps what each step makes, such as losses or outputs kept with their graph."
        ),
    )


def _process_full(observation: Observation, memory: ProcessMemory) -> Finding | None:
    share = memory.limit_share
    if share is None or share < NEAR_LIMIT_SHARE:
        return None
    return _finding(
        observation,
        memory,
        cause="near-limit",
        severity=Severity.HIGH if share >= AT_LIMIT_SHARE else Severity.MODERATE,
        summary=(
            f"The training process uses {percent(share)} of the memory that it may use: a larger batch or a longer "
            "sample ends the run."
        ),
    )


def _device_full(observation: Observation, device: DeviceMemory) -> Finding | None:
    """A GPU that is nearly full, or whose allocator already had to give everything back and ask again."""
    share = device.limit_share
    ran_out = device.retries + device.out_of_memory
    if not ran_out and (share is None or share < NEAR_LIMIT_SHARE):
        return None
    full = "is short" if share is None else f"is {percent(share)} taken at the peak"
    if device.retries:
        full += f", and the allocator had to ask again {device.retries} times"
    cause = _what_fills(device, observation.memory_use)
    return _finding(
        observation,
        device.growth,
        cause=cause,
        severity=Severity.HIGH
        if ran_out or (share is not None and share >= AT_LIMIT_SHARE)
        else Severity.MODERATE,
        summary=f"{_DEVICE} {full}: {_why(cause, device, observation.memory_use)}.",
        more=_device_facts(device),
    )


def _what_fills(device: DeviceMemory, use: MemoryUse | None) -> str:
    """The part that makes up most of it, if one does."""
    unused = max(device.inactive_split_bytes, device.reserved_peak_bytes - device.allocated_peak_bytes)
    if unused >= FRAGMENTED_SHARE * max(device.reserved_peak_bytes, 1):
        return "fragmentation"
    sizes = {} if use is None else {part.name: part.bytes for part in use.parts}
    if sizes.get(ACTIVATIONS, 0) >= DOMINANT_PART * device.allocated_peak_bytes:
        return "activation-memory"
    largest = max(sizes, key=lambda name: sizes[name], default=None)
    return "optimizer-state" if largest == "optimizer state" else "near-limit"


def _why(cause: str, device: DeviceMemory, use: MemoryUse | None) -> str:
    sizes = {} if use is None else {part.name: part.bytes for part in use.parts}
    match cause:
        case "fragmentation":
            unused = device.reserved_peak_bytes - device.allocated_peak_bytes
            return f"{_mega(max(unused, device.inactive_split_bytes))} of what is reserved never held a tensor at once"
        case "activation-memory":
            return f"activations and workspace are {_mega(sizes[ACTIVATIONS])} of it, and grow with the batch"
        case "optimizer-state":
            return f"the optimizer's state is {_mega(sizes['optimizer state'])} of it"
        case _:
            return "a larger batch or a longer sample ends the run"


def _device_facts(device: DeviceMemory) -> list[Fact]:
    unused = max(device.reserved_peak_bytes - device.allocated_peak_bytes, 0)
    facts = [
        Fact(name="reserved and unused", value=unused, unit="bytes", basis="derived"),
        Fact(name="free in blocks in part in use", value=device.inactive_split_bytes, unit="bytes"),
        Fact(name="allocation retries", value=device.retries),
        Fact(name="out of memory", value=device.out_of_memory),
    ]
    if device.outside_bytes is not None:
        facts.append(Fact(name="beside PyTorch on the GPU", value=device.outside_bytes, unit="bytes"))
    return facts


def _finding(
    observation: Observation,
    memory: ProcessMemory,
    *,
    cause: str,
    severity: Severity,
    summary: str,
    more: list[Fact] | None = None,
) -> Finding:
    facts = [Fact(name="peak memory", value=memory.peak_bytes, unit="bytes")]
    growth = memory.growth_bytes_per_step
    if growth is not None:
        facts.append(Fact(name="growth per step", value=growth, unit="bytes", basis="derived"))
    if memory.limit_bytes is not None:
        facts.append(Fact(name="memory limit", value=memory.limit_bytes, unit="bytes", basis="setup"))
    return Finding(
        kind=Kind.MEMORY_CAPACITY,
        family=Kind.MEMORY_CAPACITY.family,
        cause=cause,
        share=0.0,
        ms_per_step=0.0,
        severity=severity,
        confidence=confidence(observation.step_time.n),
        evidence=[*facts, *(more or []), *_composition(observation.memory_use, memory)],
        summary=summary,
    )


def _composition(use: MemoryUse | None, memory: ProcessMemory) -> list[Fact]:
    """What was counted of this very memory, and the largest batch that is predicted to fit."""
    if use is None or use.peak_bytes != memory.peak_bytes:
        return []
    facts = [Fact(name=part.name, value=part.bytes, unit="bytes", basis=part.basis) for part in use.parts]
    if use.largest_batch is not None:
        name = "largest batch predicted to fit"
        facts.append(Fact(name=name, value=use.largest_batch, unit="samples", basis="derived"))
    return facts


def _mega(size: float) -> str:
    return f"{size / 2**20:.1f} MB" if size < 2**30 else f"{size / 2**30:.1f} GB"
