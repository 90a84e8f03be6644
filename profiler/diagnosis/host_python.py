"""Python code of the loop that is no stage of training: metrics, sleeping, preparing."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Activity, Kind, Stage
from .finding import ms, percent, place, places, timed_finding


def find(observation: Observation) -> Finding | None:
    """Host time between the stages, less what is logging or saving, named by the lines it was seen in."""
    lines = observation.lines_of(Stage.HOST)
    elsewhere = sum(line.seconds_per_step for line in observation.lines_doing(*Activity))
    seconds = max(observation.seconds(Stage.HOST) - elsewhere, 0.0)
    return timed_finding(
        observation,
        Kind.HOST_PYTHON,
        seconds,
        cause="python-between-stages",
        summary=(
            f"Python code between the stages takes {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}){place(lines)}."
        ),
        where=places(lines),
        evidence=tuple(
            Fact(name=f"{line.file}:{line.line}", value=line.seconds_per_step * 1e3, unit="ms")
            for line in lines
        ),
    )
