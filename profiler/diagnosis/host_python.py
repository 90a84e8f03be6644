"""Python code of the loop that is no stage of training: metrics, logging, sleeping, preparing."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, place, places, stage_finding


def find(observation: Observation) -> Finding | None:
    """Host time between the stages, named by the lines it was seen in."""
    lines = observation.lines_of(Stage.HOST)
    share = observation.share(Stage.HOST)
    return stage_finding(
        observation,
        Kind.HOST_PYTHON,
        Stage.HOST,
        cause="python-between-stages",
        summary=(
            f"Python code between the stages takes {ms(observation.seconds(Stage.HOST))} of every step "
            f"({percent(share)}){place(lines)}."
        ),
        where=places(lines),
        evidence=tuple(
            Fact(name=f"{line.file}:{line.line}", value=line.seconds_per_step * 1e3, unit="ms")
            for line in lines
        ),
    )
