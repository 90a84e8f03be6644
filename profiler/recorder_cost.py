"""What the recorder cost in this run, from numbers measured in the run, and what it could not see."""

from __future__ import annotations

from .agent import format as layout
from .recording import RankRecording
from .report import RecorderCost
from .timeline.steps import Steps


def recorder_cost(recording: RankRecording, steps: Steps) -> RecorderCost:
    """The cost of spans and of the agent's thread, per timed step.

    Spans: their number times what one was measured to cost when recording began. Thread: its CPU seconds, all counted
    against the training as if they never ran beside it, which on a free core they do: an upper estimate.
    """
    notes = [str(fact["text"]) for fact in recording.facts.get("note", []) if "text" in fact]
    if recording.fault is not None:
        notes.append(
            f"The recorder switched itself off after a fault of its own: {recording.fault.splitlines()[-1]}"
        )
    step_time = steps.step_time()
    span_cost = recording.facts.get("span_cost")
    costs = recording.facts.get("cost")
    if step_time is None or not span_cost or not len(recording.spans):
        return RecorderCost(notes=notes)
    seconds = _recorded_seconds(recording)
    thread_s = float(costs[-1]["thread_cpu_s"]) if costs else 0.0
    spans_s = len(recording.spans) * float(span_cost[-1]["seconds"])
    share = (thread_s + spans_s) / seconds
    return RecorderCost(
        overhead_share=share, overhead_us_per_step=share * step_time.mean_s * 1e6, notes=notes
    )


def _recorded_seconds(recording: RankRecording) -> float:
    spans = recording.spans[recording.spans[:, 0] != layout.STEP]
    return max(float(spans[:, 2].max() - spans[:, 1].min()) / 1e9, 1e-9)
