"""Ranks exchange gradients while nothing is computed: the part that no late rank explains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, timed_finding
from .thresholds import SMALL_BUCKET_BYTES


def find(observation: Observation) -> Finding | None:
    """Exposed communication: the least wait of any rank, or of the only one that was recorded."""
    late = observation.lateness
    seconds = observation.seconds(Stage.COMMUNICATION) if late is None else late.wire_s
    if seconds <= 0:
        return None
    cause, explanation = _cause(observation)
    setup = observation.setup
    return timed_finding(
        observation,
        Kind.COMMUNICATION,
        seconds,
        cause=cause,
        summary=(
            f"{_what(setup)} takes {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}){explanation}."
        ),
        evidence=tuple(
            Fact(name=key, value=setup[key], basis="setup")
            for key in sorted(setup)
            if key.startswith(("ddp.", "fsdp.")) and isinstance(setup[key], (bool, int, float))
        ),
    )


def _what(setup: Mapping[str, Any]) -> str:
    if setup.get("fsdp"):
        return "Gathering sharded parameters and scattering gradients between ranks"
    return "Exchanging gradients between ranks"


def _cause(observation: Observation) -> tuple[str, str]:
    setup = observation.setup
    exchanges = observation.exchanges_per_step
    if exchanges is not None and exchanges > 1.5 and setup.get("optimizer.count", 1) == 1:
        return (
            "accumulation-without-no-sync",
            f": it happens {exchanges:.0f} times per step, though only the last micro-batch needs it",
        )
    if setup.get("fsdp"):
        return "sharded-parameters", f", in {observation.collectives_per_step:.0f} collectives"
    if observation.collectives_per_step > max(setup.get("optimizer.tensors", 0) / 2, 8):
        return (
            "per-parameter-collectives",
            f", in {observation.collectives_per_step:.0f} separate collectives",
        )
    if setup.get("ddp.find_unused_parameters"):
        return "find-unused-parameters", ", and find_unused_parameters walks the graph each time"
    bucket = setup.get("ddp.bucket_bytes_cap")
    if bucket is not None and bucket < SMALL_BUCKET_BYTES and setup.get("ddp.gradient_bytes", 0) > 4 * bucket:
        return "small-buckets", f", in buckets of only {bucket / 2**20:.2g} MB"
    return "gradient-exchange", ""
