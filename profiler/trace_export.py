"""Exports chosen steps of a trace, or of a rank of a run, as a small Chrome trace for Perfetto."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import InputError, UsageError
from .ingest.chrome_writer import write_chrome
from .ingest.columns import Trace
from .ingest.sniff import open_timeline
from .rank_trace import kept_traces, open_trace
from .store import RunFolder
from .timeline.trace_steps import find_steps
from .timeline.trimming import span_of_steps, trim

_STEPS = re.compile(r"^\s*(\d{1,12})\s*(?::\s*(\d{1,12})\s*)?$")


def parse_steps(text: str) -> tuple[int, int]:
    """``3:5`` as steps 3 to 5, both included; ``3`` as step 3 alone.

    Raises:
        UsageError: it is neither.
    """
    found = _STEPS.match(text)
    if found is None:
        raise UsageError(f"--steps {text!r}: a step number or FIRST:LAST was expected, such as 3:5")
    first, last = int(found.group(1)), int(found.group(2) or found.group(1))
    if last < first:
        raise UsageError(f"--steps {text!r} ends before it begins: FIRST:LAST was expected, such as 3:5")
    return first, last


def export_steps(source: Path, target: Path, *, steps: str | None = None, rank: int | None = None) -> int:
    """Write the chosen steps, or everything, of a trace file or run folder; returns the number of spans
    written.

    Raises:
        InputError: the source cannot be read.
        UsageError: it has no such steps or rank, or the target cannot be written.
    """
    wanted = None if steps is None else parse_steps(steps)
    trace = _load(source, rank)
    if wanted is not None:
        trace = trim(trace, *span_of_steps(find_steps(trace), *wanted, source=str(source)))
    write_chrome(trace, target)
    return len(trace.host) + len(trace.device)


def _load(source: Path, rank: int | None) -> Trace:
    if not source.is_dir():
        return open_timeline(source)
    traces = kept_traces(source) or _imported_from(source)
    if not traces:
        raise InputError(
            f"{source} is no run with a trace: give a trace file, an imported run, or one recorded without --light"
        )
    number = min(traces) if rank is None else rank
    if number not in traces:
        raise UsageError(
            f"{source} has ranks {', '.join(map(str, sorted(traces)))}; --rank {number} is none of them"
        )
    return open_trace(traces[number])


def _imported_from(run: Path) -> dict[int, Path]:
    """The trace files that a run without kept columns was imported from, by rank."""
    try:
        sources = RunFolder(run).manifest.sources
    except InputError:
        return {}
    return {int(number): Path(path) for number, path in sources.items() if number.isdecimal()}
