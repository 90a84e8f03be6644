"""Ranks exchange gradients while nothing is computed: the part that no late rank explains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..observation import Observation
from ..report import Fact, Finding, HostLine
from ..vocabulary import Kind, Stage
from .finding import ms, percent, place, places, timed_finding
from .thresholds import (
    COLLECTIVES_PER_TENSOR,
    MANY_BUCKETS,
    MANY_COLLECTIVES,
    REPEATED_EXCHANGES,
    SMALL_BUCKET_BYTES,
    TINY_COLLECTIVES_SHARE,
)

MAX_LINES = 12
_TRANSPORTS = ("env.nccl_p2p_disable", "env.nccl_ib_disable", "env.nccl_shm_disable")
_SWITCHES = ("env.torch_distributed_debug", *_TRANSPORTS)


def find(observation: Observation) -> Finding | None:
    """Exposed communication: the least wait of any rank, or of the only one that was recorded."""
    late = observation.lateness
    seconds = observation.seconds(Stage.COMMUNICATION) if late is None else late.wire_s
    if seconds <= 0:
        return None
    cause, explanation = _cause(observation)
    return timed_finding(
        observation,
        Kind.COMMUNICATION,
        seconds,
        cause=cause,
        summary=(
            f"{_what(observation.setup)} takes {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}){explanation}."
        ),
        where=places(_own_lines(observation)),
        evidence=(
            Fact(name="collectives of the script per step", value=round(observation.collectives.per_step, 2)),
            *_told(observation),
        ),
    )


def _what(setup: Mapping[str, Any]) -> str:
    if setup.get("fsdp"):
        return "Gathering sharded parameters and scattering gradients between ranks"
    return "Exchanging gradients between ranks"


def _told(observation: Observation) -> tuple[Fact, ...]:
    setup = observation.setup
    return tuple(
        Fact(name=key, value=setup[key], basis="setup")
        for key in sorted(setup)
        if (key.startswith(("ddp.", "fsdp.")) or key in _SWITCHES)
        and isinstance(setup[key], (bool, int, float, str))
    )


def _cause(observation: Observation) -> tuple[str, str]:
    return (
        _sharded(observation)
        or _small_collectives(observation)
        or _too_many_exchanges(observation)
        or _settings(observation)
        or _transport(observation)
        or ("gradient-exchange", "")
    )


def _sharded(observation: Observation) -> tuple[str, str] | None:
    if not observation.setup.get("fsdp"):
        return None
    return "sharded-parameters", f", in {observation.collectives.per_step:.0f} collectives"


def _small_collectives(observation: Observation) -> tuple[str, str] | None:
    """Collectives that the script's own code or its norm layers call, and that carry next to nothing."""
    own, norms = observation.collectives, observation.setup.get("model.sync_batchnorm", 0)
    if norms and own.per_step >= norms:
        return "sync-batchnorm", f", in {own.per_step:.0f} collectives of {norms} synchronised norm layers"
    if own.per_step > _many_collectives(observation):
        return None
    waited_s = observation.seconds(Stage.COMMUNICATION)
    if own.tiny_per_step >= 1 and waited_s > 0 and own.tiny_s >= TINY_COLLECTIVES_SHARE * waited_s:
        return (
            "loss-allreduce-every-step",
            f": {percent(min(own.tiny_s / waited_s, 1.0))} of what a rank waits is in {own.tiny_per_step:.0f} "
            f"collectives of a few numbers each, such as losses{place(_own_lines(observation))}",
        )
    return None


def _own_lines(observation: Observation) -> tuple[HostLine, ...]:
    """Lines of the script that call collectives; a backward's line only waits in those of data parallelism."""
    backward = {(line.file, line.line) for line in observation.lines if line.stage is Stage.BACKWARD}
    lines = observation.lines_of(Stage.COMMUNICATION, at_most=MAX_LINES)
    return tuple(line for line in lines if (line.file, line.line) not in backward)[:3]


def _many_collectives(observation: Observation) -> float:
    """More collectives per step than these are one for each parameter, or nearly."""
    return max(COLLECTIVES_PER_TENSOR * observation.setup.get("optimizer.tensors", 0), MANY_COLLECTIVES)


def _too_many_exchanges(observation: Observation) -> tuple[str, str] | None:
    exchanges, optimizers = observation.exchanges_per_step, observation.setup.get("optimizer.count", 1)
    if exchanges is not None and exchanges > REPEATED_EXCHANGES and optimizers == 1:
        return (
            "accumulation-without-no-sync",
            f": it happens {exchanges:.0f} times per step, though only the last micro-batch needs it",
        )
    if observation.collectives.per_step > _many_collectives(observation):
        return (
            "per-parameter-collectives",
            f", in {observation.collectives.per_step:.0f} separate collectives",
        )
    return None


def _settings(observation: Observation) -> tuple[str, str] | None:
    setup = observation.setup
    if setup.get("env.torch_distributed_debug") == "detail":
        return "distributed-debug", ", and TORCH_DISTRIBUTED_DEBUG=DETAIL checks each collective with others"
    if setup.get("ddp.find_unused_parameters"):
        return "find-unused-parameters", ", and find_unused_parameters walks the graph each time"
    bucket, gradient = setup.get("ddp.bucket_bytes_cap"), setup.get("ddp.gradient_bytes", 0)
    if bucket is not None and bucket < SMALL_BUCKET_BYTES and gradient > MANY_BUCKETS * bucket:
        return "small-buckets", f", in buckets of only {bucket / 2**20:.2g} MB"
    return None


def _transport(observation: Observation) -> tuple[str, str] | None:
    """A way between GPUs that the environment has closed; whether the ones left open are fast is not known."""
    setup = observation.setup
    if setup.get("device.kind") == "cpu":
        return None
    closed = [name for name in _TRANSPORTS if setup.get(name) is True]
    if not closed:
        return None
    return (
        "slow-nccl-transport",
        f", and {closed[0].partition('.')[2].upper()}=1 keeps it off the direct way between GPUs",
    )
