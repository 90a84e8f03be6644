"""The steps of a trace, and the window that its figures are taken over.

Steps are the profiler's own marks (``ProfilerStep#``) on the host. Where the script never called
``profiler.step()`` they are derived from the steps of its first optimizer; the window is then the whole trace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..ingest.column_values import distinct
from ..ingest.columns import HostKind, Trace
from .intervals import I64, Intervals, one, union

STEP_PREFIX = "ProfilerStep#"
OPTIMIZER_PREFIX = "Optimizer.step#"
_NUMBER = re.compile(r"ProfilerStep#?\s*(\d{1,12})")


@dataclass(frozen=True)
class TraceSteps:
    """Steps on the training thread, in order. Shapes (steps,), nanoseconds.

    ``marked`` says whether the profiler marked them or they were derived from optimizer steps. ``window``
    is from the first step's start to the last one's end, or the whole trace. ``thread`` is the training
    thread's id, None where the trace has no host rows.
    """

    number: I64
    start_ns: I64
    end_ns: I64
    marked: bool
    window: Intervals
    thread: int | None

    def __len__(self) -> int:
        return len(self.number)

    @property
    def window_ns(self) -> int:
        """Length of the window."""
        return self.window.total_ns


def find_steps(trace: Trace) -> TraceSteps:
    """The steps of a trace."""
    marked = _marked(trace)
    if len(marked):
        return _from_marks(trace, marked)
    return _from_optimizer(trace)


def _annotations(trace: Trace, prefix: str) -> npt.NDArray[np.intp]:
    matches = np.array([name.startswith(prefix) for name in trace.names], dtype=np.bool_)
    rows = trace.host_rows(HostKind.ANNOTATION, HostKind.OP)
    return rows[trace.names_where(matches, trace.host.name[rows])]


def _marked(trace: Trace) -> npt.NDArray[np.intp]:
    rows = _annotations(trace, STEP_PREFIX)
    rows = rows[trace.host.end_ns[rows] > trace.host.start_ns[rows]]
    if not len(rows):
        return rows
    threads, counts = np.unique(trace.host.thread[rows], return_counts=True)
    return rows[trace.host.thread[rows] == threads[counts.argmax()]]


def _from_marks(trace: Trace, rows: npt.NDArray[np.intp]) -> TraceSteps:
    start, end = trace.host.start_ns[rows], trace.host.end_ns[rows]
    kept = np.concatenate([[True], start[1:] >= np.maximum.accumulate(end)[:-1]])
    rows, start, end = rows[kept], start[kept], end[kept]
    numbers = [_number(trace.names[trace.host.name[row]], place) for place, row in enumerate(rows)]
    window = one(int(start[0]), int(end[-1]))
    thread = int(trace.host.thread[rows[0]])
    return TraceSteps(np.array(numbers, dtype=np.int64), start, end, True, window, thread)


def _number(name: str, place: int) -> int:
    found = _NUMBER.match(name)
    return int(found.group(1)) if found else place


def _from_optimizer(trace: Trace) -> TraceSteps:
    rows = _annotations(trace, OPTIMIZER_PREFIX)
    if len(rows):
        host, first = trace.host, rows[0]
        rows = rows[(host.thread[rows] == host.thread[first]) & (host.name[rows] == host.name[first])]
    ends = distinct(trace.host.end_ns[rows])
    thread = int(trace.host.thread[rows[0]]) if len(rows) else training_thread(trace)
    count = max(len(ends) - 1, 0)
    return TraceSteps(
        number=np.arange(count, dtype=np.int64),
        start_ns=ends[:count],
        end_ns=ends[1 : count + 1] if count else ends[:0],
        marked=False,
        window=one(0, max(trace.duration_ns, 1)),
        thread=thread,
    )


def training_thread(trace: Trace) -> int | None:
    """The host thread that trains, by the share of operator and launch time on it; None without host rows.

    The thread whose number is its process's number wins where it has any operator, since Linux numbers the
    first thread of a process so.
    """
    rows = trace.host_rows(HostKind.OP, HostKind.RUNTIME, HostKind.ANNOTATION, HostKind.DRIVER)
    if not len(rows):
        return None
    present = distinct(trace.host.thread[rows])
    first = [int(thread) for thread in present if trace.threads[thread].pid == trace.threads[thread].tid]
    if first:
        return first[0]
    return max((int(thread) for thread in present), key=lambda thread: _covered(trace, rows, thread))


def _covered(trace: Trace, rows: npt.NDArray[np.intp], thread: int) -> int:
    own = rows[trace.host.thread[rows] == thread]
    return union(trace.host.start_ns[own], trace.host.end_ns[own]).total_ns
