"""Training stands still while the model is evaluated."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, place, places, stage_finding
from .thresholds import DOMINANT_PART


def find(observation: Observation) -> Finding | None:
    """Evaluation passes, averaged over the steps."""
    lines = observation.lines_of(Stage.EVALUATION)
    seconds, share = observation.seconds(Stage.EVALUATION), observation.share(Stage.EVALUATION)
    keeping = observation.evaluation_gradient_share or 0.0
    keeps = keeping >= DOMINANT_PART
    what = ", and keeps gradients that nothing uses, which costs time and memory" if keeps else ""
    return stage_finding(
        observation,
        Kind.EVALUATION,
        Stage.EVALUATION,
        cause="eval-without-no-grad" if keeps else "evaluation-too-often",
        summary=f"Evaluating takes {ms(seconds)} per training step ({percent(share)}){place(lines)}{what}.",
        where=places(lines),
        evidence=(Fact(name="share of evaluation forwards with gradients", value=keeping),) if keeps else (),
    )
