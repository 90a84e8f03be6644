"""On a CPU: what Python, dispatch and checks cost beside the arithmetic: many small operations, aids for debugging left
on, a compiled model in pieces.
"""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Severity, Stage
from .finding import ms, percent, place, places, short_path, timed_finding
from .thresholds import (
    ANOMALY_OPERATION_S,
    MANY_OPERATIONS,
    OPERATION_OVERHEAD_S,
    PIECE_OVERHEAD_S,
    PROFILED_OPERATION_S,
    SMALL_OPERATION_S,
)


def find(observation: Observation) -> Finding | None:
    """On a CPU, the first that is more than a note: what is left on by mistake, then pieces, then small operations."""
    if observation.setup.get("device.kind") != "cpu":
        return None
    causes = (_left_on(observation), _in_pieces(observation), _small_operations(observation))
    found = [one for one in causes if one is not None]
    return next((one for one in found if one.severity is not Severity.NOTE), found[0] if found else None)


def _left_on(observation: Observation) -> Finding | None:
    """Anomaly detection notes a traceback and looks for NaN at each operation; a profiler notes each."""
    operations, setup = observation.operations_per_step, observation.setup
    if operations is None:
        return None
    if setup.get("torch.anomaly_mode"):
        cause, name, each_s = "anomaly-detection", "autograd's anomaly detection", ANOMALY_OPERATION_S
    elif setup.get("torch.profiler"):
        cause, name, each_s = "profiler-left-on", "a profiler of the script", PROFILED_OPERATION_S
    else:
        return None
    seconds = _stretched(observation, operations * each_s)
    return timed_finding(
        observation,
        Kind.LAUNCH_OVERHEAD,
        seconds,
        cause=cause,
        basis="derived",
        summary=(
            f"{name[0].upper()}{name[1:]} is on: over {operations:.0f} operations it costs about {ms(seconds)} of "
            f"every step ({percent(seconds / observation.step_s)})."
        ),
        evidence=(
            Fact(name="operations per step", value=round(operations)),
            Fact(name="taken for each", value=each_s * 1e6, unit="µs", basis="derived"),
        ),
    )


def _in_pieces(observation: Observation) -> Finding | None:
    """Each piece of a broken graph has its guards checked and is called by itself, forward and backward."""
    breaks, pieces = observation.compiled.breaks, observation.compiled.pieces_per_backward
    if not breaks or pieces is None or pieces < 2:
        return None
    extra = (pieces - 1) * (observation.backwards_per_step or 1.0)
    seconds = _stretched(observation, extra * PIECE_OVERHEAD_S)
    first = breaks[0].where
    at = "" if first.file is None else f", first at {short_path(first.file)}:{first.line}"
    return timed_finding(
        observation,
        Kind.LAUNCH_OVERHEAD,
        seconds,
        cause="graph-break",
        basis="derived",
        summary=(
            f"The compiled model runs in {pieces:.0f} pieces, for its graph is broken in {len(breaks)} "
            f"place{'s' if len(breaks) != 1 else ''}{at}: about {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}) goes to the seams."
        ),
        where=tuple(one.where for one in breaks[:3]),
        evidence=(
            Fact(name="compiled pieces in a backward", value=round(pieces, 1)),
            *(Fact(name="reason of a break", value=one.reason) for one in breaks[:3] if one.reason),
        ),
    )


def _small_operations(observation: Observation) -> Finding | None:
    """Operations of a step against the time that forward and backward take, waiting for a core left out."""
    operations = observation.operations_per_step
    if operations is None or operations < MANY_OPERATIONS:
        return None
    model_s = observation.seconds(Stage.FORWARD, Stage.BACKWARD)
    each_s = model_s * (1 - (observation.core_wait_share or 0.0)) / operations
    if each_s > SMALL_OPERATION_S:
        return None
    seconds = _stretched(observation, operations * OPERATION_OVERHEAD_S)
    lines = observation.lines_of(Stage.FORWARD)
    return timed_finding(
        observation,
        Kind.LAUNCH_OVERHEAD,
        seconds,
        cause="many-small-operations",
        basis="derived",
        summary=(
            f"Forward and backward run {operations:.0f} operations of {each_s * 1e6:.0f} µs in every step: about "
            f"{ms(seconds)} ({percent(seconds / observation.step_s)}) is Python and dispatch, not arithmetic"
            f"{place(lines)}."
        ),
        where=places(lines),
        evidence=(
            Fact(name="operations per step", value=round(operations)),
            Fact(name="mean time of an operation", value=each_s * 1e6, unit="µs", basis="derived"),
        ),
    )


def _stretched(observation: Observation, on_core_s: float) -> float:
    """What seconds on a core took with the waiting for it; no more than forward and backward."""
    on_core = max(1 - (observation.core_wait_share or 0.0), 1e-9)
    return min(on_core_s / on_core, observation.seconds(Stage.FORWARD, Stage.BACKWARD))
