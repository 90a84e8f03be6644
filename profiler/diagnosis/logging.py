"""The loop logs, prints or draws while nothing is trained."""

from __future__ import annotations

from collections import defaultdict

from ..observation import Observation
from ..report import Fact, Finding, HostLine
from ..vocabulary import Activity, Kind
from .finding import ms, percent, place, places, timed_finding
from .thresholds import MIN_SAMPLES

_CAUSES = {
    Activity.LOGGING: "logging-in-the-loop",
    Activity.PRINTING: "printing-in-the-loop",
    Activity.PLOTTING: "plotting-in-the-loop",
}


def find(observation: Observation) -> Finding | None:
    """Time of the lines that log, print or draw, between the stages."""
    lines = observation.lines_doing(*_CAUSES)
    if sum(line.samples for line in lines) < MIN_SAMPLES:
        return None
    activity = _most(lines)
    seconds = sum(line.seconds_per_step for line in lines)
    own = tuple(line for line in lines if line.user_code)
    return timed_finding(
        observation,
        Kind.LOGGING,
        seconds,
        cause=_CAUSES[activity],
        summary=(
            f"{activity.value.capitalize()} takes {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}){place(own)}."
        ),
        where=places(own),
        evidence=tuple(
            Fact(name=f"{line.file}:{line.line}", value=line.seconds_per_step * 1e3, unit="ms")
            for line in own[:3]
        ),
    )


def _most(lines: tuple[HostLine, ...]) -> Activity:
    seconds: defaultdict[Activity, float] = defaultdict(float)
    for line in lines:
        if line.activity is not None:
            seconds[line.activity] += line.seconds_per_step
    return max(seconds, key=lambda activity: seconds[activity])
