"""Training stands still while the model is evaluated."""

from __future__ import annotations

from ..observation import Observation
from ..report import Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, place, places, stage_finding


def find(observation: Observation) -> Finding | None:
    """Evaluation passes, averaged over the steps."""
    lines = observation.lines_of(Stage.EVALUATION)
    seconds, share = observation.seconds(Stage.EVALUATION), observation.share(Stage.EVALUATION)
    return stage_finding(
        observation,
        Kind.EVALUATION,
        Stage.EVALUATION,
        cause="evaluation-too-often",
        summary=f"Evaluating takes {ms(seconds)} per training step ({percent(share)}){place(lines)}.",
        where=places(lines),
    )
