"""Python's garbage collector stops the loop."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, Where
from ..vocabulary import Kind
from .finding import ms, percent, short_path, timed_finding


def find(observation: Observation) -> Finding | None:
    """Pauses of the collector in any stage: called by the script, or set off by the number of new objects."""
    pauses = observation.garbage
    if not pauses.seconds:
        return None
    frames = [frame for frame, _ in pauses.places]
    explicit = bool(frames) and "collect(" in (frames[0].text or "")
    at = f" at {short_path(frames[0].file)}:{frames[0].line}" if frames else ""
    why = "the script calls it" if explicit else "it walks all objects that Python keeps, again and again"
    return timed_finding(
        observation,
        Kind.GARBAGE_COLLECTION,
        pauses.total_s,
        cause="explicit-collect" if explicit else "automatic-collection",
        summary=(
            f"Python's garbage collector takes {ms(pauses.total_s)} of every step "
            f"({percent(pauses.total_s / observation.step_s)}): {why}{at}."
        ),
        where=tuple(Where(file=frame.file, line=frame.line, function=frame.function) for frame in frames),
        evidence=(Fact(name="collections per step", value=round(pauses.per_step, 2)),),
    )
