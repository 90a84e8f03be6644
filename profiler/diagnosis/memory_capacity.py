"""Memory of the training process grows from step to step, or stands close to its limit.

It costs no time until it ends the run, so it has no share of the step and stands behind what costs time.
"""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..timeline.process_memory import ProcessMemory
from ..vocabulary import Kind, Severity
from .finding import percent
from .thresholds import (
    AT_LIMIT_SHARE,
    GROWTH_BYTES,
    GROWTH_SHARE,
    NEAR_LIMIT_SHARE,
    RISING_SHARE,
    SOON_STEPS,
    confidence,
)


def find(observation: Observation) -> Finding | None:
    """Growth first, for it ends every run that is long enough."""
    memory = observation.memory
    if memory is None:
        return None
    growth = memory.growth_bytes_per_step
    if growth is not None and _grows(memory, growth):
        return _growing(observation, memory, growth)
    share = memory.limit_share
    return (
        _near_limit(observation, memory, share) if share is not None and share >= NEAR_LIMIT_SHARE else None
    )


def _grows(memory: ProcessMemory, growth: float) -> bool:
    total = growth * memory.steps
    return (
        memory.rising_share >= RISING_SHARE
        and total >= GROWTH_BYTES
        and total >= GROWTH_SHARE * memory.peak_bytes
    )


def _growing(observation: Observation, memory: ProcessMemory, growth: float) -> Finding:
    left = memory.steps_left
    forecast = "" if left is None else f", and reaches its limit in about {left:.0f} steps"
    return _finding(
        observation,
        memory,
        cause="growing-memory",
        severity=Severity.HIGH if left is not None and left < SOON_STEPS else Severity.MODERATE,
        summary=(
            f"The training process's memory grows by {_mega(growth)} in every step{forecast}: "
            "something keeps what each step makes, such as losses or outputs kept with their graph."
        ),
    )


def _near_limit(observation: Observation, memory: ProcessMemory, share: float) -> Finding:
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


def _finding(
    observation: Observation, memory: ProcessMemory, *, cause: str, severity: Severity, summary: str
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
        evidence=facts,
        summary=summary,
    )


def _mega(size: float) -> str:
    return f"{size / 2**20:.1f} MB"
