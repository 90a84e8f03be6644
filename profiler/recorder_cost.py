"""What the recorder cost in this run, from numbers measured in the run, and what it could not see."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .agent import format as layout
from .core_wait import caution, core_wait_share
from .facts import number
from .recording import RankRecording
from .report import DeepWindowCost, RecorderCost
from .timeline.steps import Steps

#: How much more a span costs between tensor operations, with cold caches and the bookkeeping of steps, than in the
#: tight loop that measures it. Fitted on one machine, not known elsewhere: 33 µs of the training thread's CPU time for
#: a step of 7 spans, against 0.30 µs for a span in the loop. tests/benchmarks/recorder_cost.py --work 1 measures anew.
IN_A_STEP = 16.0
NO_WINDOW = "no deep window was opened and closed between steps of this run"


def recorder_cost(recording: RankRecording, steps: Steps) -> RecorderCost:
    """The cost of spans and of the agent's thread, per timed step.

    Spans: their number in the timed steps times what one was measured to cost in a tight loop when recording began,
    times `IN_A_STEP`. Thread: the share of time that it computed, all counted against the training as if it never ran
    beside it, which on a free core it does. Together an estimate; the benchmark measures against the plain script.
    """
    notes = [*recording.notes, *_worker_notes(recording)]
    warning = caution(core_wait_share(recording))
    if warning is not None:
        notes.append(warning)
    if recording.fault is not None:
        notes.append(f"The recorder switched itself off after a fault of its own: {recording.fault_line}.")
    window = deep_window_cost(recording, steps)
    cost = RecorderCost(
        deep_window=window, deep_window_reason=NO_WINDOW if window is None else None, notes=notes
    )
    step_time = steps.step_time()
    span_cost_s = _last(recording, "span_cost", "seconds")
    thread = _thread_share(recording)
    if step_time is None or step_time.mean_s <= 0 or span_cost_s is None or thread is None:
        return cost
    share = thread + _spans_per_step(recording, steps) * span_cost_s * IN_A_STEP / step_time.mean_s
    measured = {"overhead_share": share, "overhead_us_per_step": share * step_time.mean_s * 1e6}
    return cost.model_copy(update=measured)


def deep_window_cost(recording: RankRecording, steps: Steps) -> DeepWindowCost | None:
    """Traced steps beside timed ones, and what opening and closing took, by the agent's clock; None without a window.

    The window's steps follow one another without a gap; the step whose operations are counted comes after it is closed.
    """
    opening_s = _last(recording, "deep_window", "opening_s")
    closing_s = _last(recording, "deep_window", "closing_s")
    step_time, traced = steps.step_time(), np.flatnonzero(steps.traced)
    if opening_s is None or closing_s is None or step_time is None or not len(traced):
        return None
    follows = steps.start_ns[traced[1:]] == steps.end_ns[traced[:-1]]
    window = traced[: 1 + int(np.cumprod(follows).sum())]
    return DeepWindowCost(
        steps=len(window),
        mean_step_s=float(steps.duration_s[window].mean()),
        timed_step_s=step_time.mean_s,
        opening_s=max(opening_s, 0.0),
        closing_s=max(closing_s, 0.0),
    )


def _worker_notes(recording: RankRecording) -> list[str]:
    """What loader workers noted: each text once, with the number of them that it is of."""
    own = [note for worker in recording.workers if worker.worker is None for note in worker.notes]
    others = [set(worker.notes) for worker in recording.workers if worker.worker is not None]
    counts = sorted(Counter(note for notes in others for note in notes).items())
    return [*own, *(f"In {count} loader worker{'s' * (count > 1)}: {note}" for note, count in counts)]


def _last(recording: RankRecording, fact: str, key: str) -> float | None:
    found = recording.facts.get(fact, [])
    return number(found[-1], key) if found else None


def _thread_share(recording: RankRecording) -> float | None:
    """CPU seconds of the agent's thread per second of recording, and of timing on a GPU, by its last word on them."""
    cpu_s = _last(recording, "cost", "thread_cpu_s")
    told_ns, began_ns = _last(recording, "cost", "t"), number(recording.process, "t")
    if cpu_s is None or told_ns is None or began_ns is None or told_ns <= began_ns:
        return None
    cpu_s += _last(recording, "cost", "clock_s") or 0.0
    return min(max(cpu_s / ((told_ns - began_ns) / 1e9), 0.0), 1.0)


def _spans_per_step(recording: RankRecording, steps: Steps) -> float:
    """Spans that began in a timed step, averaged over the timed steps; a step's own record counts as one."""
    began = np.sort(recording.spans[recording.spans[:, 0] != layout.STEP, 1])
    first, end = (
        np.searchsorted(began, bounds) for bounds in (steps.start_ns[steps.timed], steps.end_ns[steps.timed])
    )
    return float(np.mean(end - first)) + 1
