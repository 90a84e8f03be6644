"""Training stands still while a checkpoint is written."""

from __future__ import annotations

from ..observation import Observation
from ..report import Finding
from ..vocabulary import Activity, Kind, Stage
from .finding import ms, percent, place, places, timed_finding


def find(observation: Observation) -> Finding | None:
    """Time inside ``torch.save`` and other writers of checkpoints, averaged over the steps."""
    others = observation.lines_doing(Activity.SAVING)
    seconds = observation.seconds(Stage.CHECKPOINT) + sum(line.seconds_per_step for line in others)
    found = [line for line in observation.lines if line.stage is Stage.CHECKPOINT or line in others]
    lines = tuple(line for line in found if line.user_code)[:3]
    return timed_finding(
        observation,
        Kind.CHECKPOINT_IO,
        seconds,
        cause="checkpoint-in-the-loop",
        summary=(
            f"Saving checkpoints stops training for {ms(seconds)} per step "
            f"({percent(seconds / observation.step_s)}){place(lines)}."
        ),
        where=places(lines),
    )
