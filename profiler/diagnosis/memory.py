"""What the rules on memory share: when it grows, and how a finding on it is built, which costs no time."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..timeline.process_memory import ProcessMemory
from ..vocabulary import Kind, Severity
from .thresholds import GROWTH_BYTES, GROWTH_SHARE, RISING_SHARE, confidence

#: Names of the facts that say which memory a finding is about, when one that grows is used up, and what of it is in use
#: at all times and no part of the model.
PEAK, STEPS_LEFT, KEPT = "peak memory", "used up in", "kept at all times beside the model"


def grows(memory: ProcessMemory, growth: float) -> bool:
    """Whether a growth per step is steady and large enough to matter."""
    total = growth * memory.steps
    return (
        memory.rising_share >= RISING_SHARE
        and total >= GROWTH_BYTES
        and total >= GROWTH_SHARE * memory.peak_bytes
    )


def memory_finding(
    observation: Observation, *, cause: str, severity: Severity, summary: str, evidence: tuple[Fact, ...]
) -> Finding:
    """A finding that costs no time until memory ends."""
    return Finding(
        kind=Kind.MEMORY_CAPACITY,
        family=Kind.MEMORY_CAPACITY.family,
        cause=cause,
        share=0.0,
        ms_per_step=0.0,
        severity=severity,
        confidence=confidence(observation.step_time.n),
        evidence=list(evidence),
        summary=summary,
    )


def forecast(left: float | None) -> list[Fact]:
    """When a memory that grows is used up, as evidence; none where no limit is known."""
    return [] if left is None else [Fact(name=STEPS_LEFT, value=left, unit="steps", basis="derived")]


def mega(size: float) -> str:
    """A size for a sentence."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.1f} MB"
