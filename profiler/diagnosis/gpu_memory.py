"""The memory of the GPU: it grows from step to step, or is nearly full, and what fills it."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, MemoryUse
from ..timeline.memory_use import ACTIVATIONS, DeviceMemory
from ..timeline.process_memory import ProcessMemory
from ..vocabulary import Severity
from .finding import percent
from .memory import (
    GROWTH,
    PEAK,
    forecast,
    grows,
    growth_cause,
    growth_facts,
    mega,
    memory_finding,
    peaks_in_evaluation,
)
from .thresholds import AT_LIMIT_SHARE, DOMINANT_PART, FRAGMENTED_SHARE, NEAR_LIMIT_SHARE, SOON_STEPS


def growing(observation: Observation) -> Finding | None:
    """What the GPU's allocator has in use at most grows in each step."""
    device = observation.device_memory
    growth = None if device is None else device.growth.growth_bytes_per_step
    if device is None or growth is None or not grows(device.growth, growth):
        return None
    left, cause = device.growth.steps_left, growth_cause(observation, device.growth)
    ends = "" if left is None else f", and reaches its limit in about {left:,.0f} steps"
    return memory_finding(
        observation,
        cause=cause,
        severity=Severity.HIGH if left is not None and left < SOON_STEPS else Severity.MODERATE,
        summary=f"The GPU's memory grows by {mega(growth)} in every step{ends}: {GROWTH[cause]}.",
        evidence=(
            *_facts(device),
            *growth_facts(cause, device.growth),
            *forecast(left),
            *composition(observation.memory_use, device.growth),
        ),
    )


def full(observation: Observation) -> Finding | None:
    """A GPU that is nearly full, or whose allocator already had to give everything back and ask again."""
    device = observation.device_memory
    if device is None:
        return None
    share = device.limit_share
    ran_out = device.retries + device.out_of_memory
    if not ran_out and (share is None or share < NEAR_LIMIT_SHARE):
        return None
    state = "is short" if share is None else f"is {percent(share)} taken at the peak"
    if device.retries:
        state += f", and the allocator had to ask again {device.retries} times"
    evaluates = peaks_in_evaluation(observation, device.growth)
    cause = "eval-without-no-grad" if evaluates else _cause(device, observation.memory_use)
    return memory_finding(
        observation,
        cause=cause,
        severity=Severity.HIGH
        if ran_out or (share is not None and share >= AT_LIMIT_SHARE)
        else Severity.MODERATE,
        summary=f"The GPU's memory {state}: {_why(cause, device, observation.memory_use)}.",
        evidence=(*_facts(device), *composition(observation.memory_use, device.growth)),
    )


def _cause(device: DeviceMemory, use: MemoryUse | None) -> str:
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
        case "eval-without-no-grad":
            return GROWTH[cause]
        case "fragmentation":
            unused = device.reserved_peak_bytes - device.allocated_peak_bytes
            return f"{mega(max(unused, device.inactive_split_bytes))} of what is reserved was not in use at the peak"
        case "activation-memory":
            return f"activations and workspace are {mega(sizes[ACTIVATIONS])} of it, and grow with the batch"
        case "optimizer-state":
            return f"the optimizer's state is {mega(sizes['optimizer state'])} of it"
        case _:
            return "a larger batch or a longer sample ends the run"


def _facts(device: DeviceMemory) -> list[Fact]:
    unused = max(device.reserved_peak_bytes - device.allocated_peak_bytes, 0)
    growth = device.growth
    facts = [
        Fact(name=PEAK, value=growth.peak_bytes, unit="bytes"),
        Fact(name="reserved and unused", value=unused, unit="bytes", basis="derived"),
        Fact(name="free in blocks in part in use", value=device.inactive_split_bytes, unit="bytes"),
        Fact(name="allocation retries", value=device.retries),
        Fact(name="out of memory", value=device.out_of_memory),
    ]
    if growth.growth_bytes_per_step is not None:
        per_step = growth.growth_bytes_per_step
        facts.append(Fact(name="growth per step", value=per_step, unit="bytes", basis="derived"))
    if growth.limit_bytes is not None:
        facts.append(Fact(name="memory limit", value=growth.limit_bytes, unit="bytes", basis="setup"))
    if device.outside_bytes is not None:
        facts.append(Fact(name="outside PyTorch on the GPU", value=device.outside_bytes, unit="bytes"))
    return facts


def composition(use: MemoryUse | None, memory: ProcessMemory) -> list[Fact]:
    """What was counted of this very memory, and the largest batch that is predicted to fit."""
    if use is None or use.peak_bytes != memory.peak_bytes:
        return []
    facts = [Fact(name=part.name, value=part.bytes, unit="bytes", basis=part.basis) for part in use.parts]
    if use.largest_batch is not None:
        name = "largest batch predicted to fit"
        facts.append(Fact(name=name, value=use.largest_batch, unit="samples", basis="derived"))
    return facts
