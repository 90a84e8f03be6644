"""On a CPU: so many small operations that Python and PyTorch's dispatch take longer than the arithmetic."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, place, places, timed_finding
from .thresholds import MANY_OPERATIONS, OPERATION_OVERHEAD_S, SMALL_OPERATION_S


def find(observation: Observation) -> Finding | None:
    """Operations of a step against the time that forward and backward take, waiting for a core left out."""
    operations = observation.operations_per_step
    if operations is None or operations < MANY_OPERATIONS or observation.setup.get("device.kind") != "cpu":
        return None
    model_s = observation.seconds(Stage.FORWARD, Stage.BACKWARD)
    on_core_s = model_s * (1 - (observation.core_wait_share or 0.0))
    each_s = on_core_s / operations
    if each_s > SMALL_OPERATION_S:
        return None
    seconds = min(model_s, operations * OPERATION_OVERHEAD_S * model_s / max(on_core_s, 1e-9))
    lines = observation.lines_of(Stage.FORWARD)
    return timed_finding(
        observation,
        Kind.LAUNCH_OVERHEAD,
        seconds,
        cause="many-small-operations",
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
