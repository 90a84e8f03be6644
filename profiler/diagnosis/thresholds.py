"""From which share of the step on a kind of bottleneck is worth a word: one table, each row with its source."""

from __future__ import annotations

from dataclasses import dataclass

from ..vocabulary import Confidence, Kind, Severity


@dataclass(frozen=True)
class Threshold:
    """Shares of the step, 0 to 1, from which a finding is a note, moderate, high."""

    note: float
    moderate: float
    high: float
    source: str


THRESHOLDS: dict[Kind, Threshold] = {
    Kind.DATA_LOADING: Threshold(
        0.10,
        0.20,
        0.40,
        "other profilers alarm between 5 % (tb_plugin) and 25 % (pytscope); XProf: 20 % is high",
    ),
    Kind.HOST_PYTHON: Threshold(
        0.10, 0.20, 0.40, "XProf calls 15 % of other Python time high; ours is wall time"
    ),
    Kind.CHECKPOINT_IO: Threshold(0.02, 0.05, 0.20, "train-doctor speaks from 2 % of saving on"),
    Kind.OPTIMIZER_STEP: Threshold(
        0.15, 0.30, 0.50, "ours: on small models a quarter of the step is usual without anything being wrong"
    ),
    Kind.COMMUNICATION: Threshold(
        0.05, 0.15, 0.40, "pytscope: exposed communication 5 / 15 %; tb_plugin speaks from 10 % on"
    ),
    Kind.STRAGGLERS: Threshold(
        0.05, 0.10, 0.25, "TraceML: a straggler costs 10 / 20 %; pytscope: high at 10 % lost"
    ),
    Kind.COMPUTE: Threshold(
        0.50, 2.0, 2.0, "ours: computing is what a step is for, so that alone is never more than a note"
    ),
}
#: CPU seconds per wall second of making a batch, from which on loading computes, and up to which it waits. Ours: a
#: process alone on its core shows 0.95 and more when it computes, and a sleep or a read from a slow store under 0.3.
CPU_BOUND_SHARE = 0.7
WAITING_CPU_SHARE = 0.4
#: A worker that waits this share of its batch time for a core has too many neighbours. Ours.
STARVED_SHARE = 0.3
#: A rank that is last in this share of the steps is slow; below it the work is uneven. Ours.
LAST_RANK_SHARE = 0.7
#: Gradient buckets below this cost more in number than they gain in overlap; PyTorch's default is 25 MB. Ours.
SMALL_BUCKET_BYTES = 2 * 2**20
#: A part that makes up this share of a whole is named as its cause.
DOMINANT_PART = 0.5
#: Fewer timed steps than these make a finding uncertain.
STEPS_FOR_MEDIUM_CONFIDENCE = 5
STEPS_FOR_HIGH_CONFIDENCE = 15


def severity(kind: Kind, share: float) -> Severity | None:
    """How much a share of the step matters for a kind; None below its note threshold."""
    threshold = THRESHOLDS[kind]
    if share >= threshold.high:
        return Severity.HIGH
    if share >= threshold.moderate:
        return Severity.MODERATE
    return Severity.NOTE if share >= threshold.note else None


def confidence(steps: int) -> Confidence:
    """How sure a mean over this many timed steps is."""
    if steps >= STEPS_FOR_HIGH_CONFIDENCE:
        return Confidence.HIGH
    return Confidence.MEDIUM if steps >= STEPS_FOR_MEDIUM_CONFIDENCE else Confidence.LOW
