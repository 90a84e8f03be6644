"""Training stands still while ``torch.save`` writes."""

from __future__ import annotations

from ..observation import Observation
from ..report import Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, place, places, stage_finding


def find(observation: Observation) -> Finding | None:
    """Time inside ``torch.save``, averaged over the steps."""
    lines = observation.lines_of(Stage.CHECKPOINT)
    share = observation.share(Stage.CHECKPOINT)
    return stage_finding(
        observation,
        Kind.CHECKPOINT_IO,
        Stage.CHECKPOINT,
        cause="checkpoint-in-the-loop",
        summary=(
            f"Saving checkpoints stops training for {ms(observation.seconds(Stage.CHECKPOINT))} per step "
            f"({percent(share)}){place(lines)}."
        ),
        where=places(lines),
    )
