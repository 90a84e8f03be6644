"""Forward and backward fill the step: the model itself is what the run waits for."""

from __future__ import annotations

from ..observation import Observation
from ..report import Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, stage_finding


def find(observation: Observation) -> Finding | None:
    """Time in the model, as a note: it is the work that a step is for."""
    share = observation.share(Stage.FORWARD, Stage.BACKWARD)
    return stage_finding(
        observation,
        Kind.COMPUTE,
        Stage.FORWARD,
        Stage.BACKWARD,
        cause="model-compute",
        summary=(
            f"Forward and backward take {ms(observation.seconds(Stage.FORWARD, Stage.BACKWARD))} of every "
            f"step ({percent(share)}): the run is busy with the model itself."
        ),
    )
