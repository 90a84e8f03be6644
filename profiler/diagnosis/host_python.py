"""Python code of the loop that is no stage of training: metrics, sleeping, preparing."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, HostLine
from ..vocabulary import Activity, Kind, Stage
from .batches_by_hand import seconds_by_hand
from .finding import ms, percent, place, places, timed_finding
from .thresholds import DOMINANT_PART

MAX_LINES = 12
#: What rules of their own tell of; compiling is off a stage's own seconds already.
_CLAIMED = frozenset(Activity) - {Activity.MEASURING, Activity.COMPILING, Activity.LOADING}
_TRAINING = frozenset({Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER})


def find(observation: Observation) -> Finding | None:
    """Host time between the stages, less what is logging, saving or loading, named by the lines it was seen in."""
    seen = _joined(observation.lines_of(Stage.HOST, at_most=MAX_LINES))
    training = _training_lines(observation)
    lines = tuple(line for line in seen if (line.file, line.line) not in training)[:3]
    elsewhere = sum(line.seconds_per_step for line in observation.lines_doing(*_CLAIMED))
    elsewhere += sum(line.seconds_per_step for line in seen if (line.file, line.line) in training)
    seconds = max(observation.seconds(Stage.HOST) - elsewhere - seconds_by_hand(observation), 0.0)
    measuring_s = sum(line.seconds_per_step for line in observation.lines_doing(Activity.MEASURING))
    measures = measuring_s >= DOMINANT_PART * seconds > 0
    what = ", most of it metrics that a library computes on the CPU" if measures else ""
    return timed_finding(
        observation,
        Kind.HOST_PYTHON,
        seconds,
        cause="metric-on-cpu" if measures else "python-between-stages",
        summary=(
            f"Python code between the stages takes {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}){place(lines)}{what}."
        ),
        where=places(lines),
        evidence=tuple(
            Fact(name=f"{line.file}:{line.line}", value=line.seconds_per_step * 1e3, unit="ms")
            for line in lines
        ),
    )


def _training_lines(observation: Observation) -> frozenset[tuple[str, int]]:
    """Lines that call model, backward or optimizer: what they take beside that cannot be done less often."""
    return frozenset((line.file, line.line) for line in observation.lines if line.stage in _TRAINING)


def _joined(lines: tuple[HostLine, ...]) -> tuple[HostLine, ...]:
    """Each line once, longest first: what it measures and what else it does together."""
    joined: dict[tuple[str, int], HostLine] = {}
    for line in lines:
        known = joined.get((line.file, line.line))
        seconds = line.seconds_per_step + (0.0 if known is None else known.seconds_per_step)
        joined[line.file, line.line] = line.model_copy(update={"seconds_per_step": seconds})
    return tuple(sorted(joined.values(), key=lambda line: -line.seconds_per_step))
