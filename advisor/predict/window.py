"""Which stretch of a trace is replayed, and how many steps it holds."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.ingest.columns import Trace
from ...profiler.timeline.trace_steps import find_steps


@dataclass(frozen=True)
class Window:
    """From ``start_ns`` to ``end_ns`` on the trace's clock, with ``steps`` steps; one where it has no marks.

    ``thread`` is the training thread's id, None where the trace has no host rows.
    """

    start_ns: int
    end_ns: int
    steps: int
    thread: int | None


def replay_window(trace: Trace) -> Window:
    """The steps that the profiler marked, else those between optimizer steps, else the whole trace as one."""
    steps = find_steps(trace)
    if not len(steps):
        return Window(int(steps.window.start[0]), int(steps.window.end[-1]), 1, steps.thread)
    return Window(int(steps.start_ns[0]), int(steps.end_ns[-1]), len(steps), steps.thread)
