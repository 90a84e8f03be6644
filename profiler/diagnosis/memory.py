"""What the rules on memory share: when it grows, and how a finding on it is built, which costs no time."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..timeline.process_memory import ProcessMemory
from ..vocabulary import Kind, Severity
from .thresholds import DOMINANT_PART, GROWTH_BYTES, GROWTH_SHARE, RISING_SHARE, confidence

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


#: Why memory grows, by cause, for a sentence.
GROWTH = {
    "gc-disabled": "objects that refer to each other pile up, for Python's garbage collector is off",
    "eval-without-no-grad": "evaluation keeps gradients, and with them every batch that its results come from",
    "loss-graph-kept": "losses or outputs are kept with the graph that they came from, long after its backward",
    "growing-memory": "something keeps what each step makes, such as losses or outputs kept with their graph",
}


def growth_cause(observation: Observation, memory: ProcessMemory) -> str:
    """What is known of the reason why a memory grows."""
    if peaks_in_evaluation(observation, memory):
        return "eval-without-no-grad"
    kept = memory.kept_graphs_share
    return "loss-graph-kept" if kept is not None and kept >= DOMINANT_PART else "growing-memory"


def peaks_in_evaluation(observation: Observation, memory: ProcessMemory) -> bool:
    """Whether a memory stands highest in an evaluation that keeps gradients."""
    return memory.peak_in_evaluation and (observation.evaluation_gradient_share or 0.0) >= DOMINANT_PART


def growth_facts(cause: str, memory: ProcessMemory) -> list[Fact]:
    """What a cause of growth rests on beside the memory's own numbers."""
    if cause != "loss-graph-kept" or memory.kept_graphs_share is None:
        return []
    return [Fact(name="recent losses whose graph is kept", value=memory.kept_graphs_share, unit="share")]


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
