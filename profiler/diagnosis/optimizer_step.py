"""The parameter update takes more of the step than it should."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, stage_finding

#: From this many parameter tensors on, an update tensor by tensor is slow for their number alone.
MANY_TENSORS = 100


def find(observation: Observation) -> Finding | None:
    """Time in ``Optimizer.step`` and ``zero_grad``."""
    setup = observation.setup
    share = observation.share(Stage.OPTIMIZER)
    name = setup.get("optimizer.name", "The optimizer")
    tensors = setup.get("optimizer.tensors")
    one_by_one = not setup.get("optimizer.fused") and not setup.get("optimizer.foreach")
    many = (
        tensors is not None and tensors >= MANY_TENSORS and one_by_one and setup.get("device.kind") == "cpu"
    )
    facts = [
        Fact(name=key, value=setup[key], basis="setup")
        for key in (
            "optimizer.name",
            "optimizer.tensors",
            "optimizer.parameters",
            "optimizer.foreach",
            "optimizer.fused",
        )
        if key in setup
    ]
    detail = f", tensor by tensor over {tensors} of them" if many else ""
    return stage_finding(
        observation,
        Kind.OPTIMIZER_STEP,
        Stage.OPTIMIZER,
        cause="for-loop-optimizer" if many else None,
        summary=(
            f"{name} takes {ms(observation.seconds(Stage.OPTIMIZER))} of every step ({percent(share)}) "
            f"to update the parameters{detail}."
        ),
        evidence=tuple(facts),
    )
