"""What copies to the GPU and from it, and which lines wait for it, as a table."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.diagnosis.finding import short_path
from ...profiler.report import Crossing, Report
from ...profiler.vocabulary import Call
from . import format as text


@dataclass(frozen=True)
class CrossingRow:
    """One line of the script; what is not known reads ``n/a``."""

    what: str
    line: str
    calls: str
    size: str
    memory: str
    time: str


@dataclass(frozen=True)
class CrossingsView:
    """The lines that take the host longest first."""

    rows: tuple[CrossingRow, ...]
    caption: str


def crossings_view(report: Report) -> CrossingsView | None:
    """The crossings of a report; None where none was seen."""
    if not report.crossings:
        return None
    counted = any(one.calls_per_step is not None for one in report.crossings)
    how = (
        "Calls and bytes were counted in one step."
        if counted
        else "Calls were not counted: there was no step to count in, or the model is compiled."
    )
    return CrossingsView(
        rows=tuple(_row(one) for one in report.crossings),
        caption=f"{how} Times are the host's, waiting included, from samples of the timed steps.",
    )


def _row(one: Crossing) -> CrossingRow:
    copies = one.call in (Call.TO_DEVICE, Call.TO_HOST)
    known_size = copies and one.bytes_per_step is not None
    return CrossingRow(
        what=one.call.label,
        line=f"{short_path(one.file)}:{one.line} ({one.function})",
        calls="n/a" if one.calls_per_step is None else f"{one.calls_per_step:,}",
        size=text.size(one.bytes_per_step or 0) if known_size else "n/a",
        memory=_memory(one),
        time="n/a" if one.seconds_per_step is None else text.duration(one.seconds_per_step),
    )


def _memory(one: Crossing) -> str:
    if one.pinned is None:
        return "n/a"
    waits = "non-blocking" if one.non_blocking else "blocking"
    return f"{'pinned' if one.pinned else 'pageable'}, {waits}"
