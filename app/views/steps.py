"""The steps of a run as a chart shows them: ms per stage, what is left out of the timing, what stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...profiler.vocabulary import Stage
from . import format as text

if TYPE_CHECKING:
    import pandas as pd

MAX_BARS = 400
MAX_MARKS = 40
#: The chart ends at this multiple of the median timed step, or at this quantile of all steps if that is more.
AXIS_OVER_MEDIAN = 3.0
AXIS_QUANTILE = 0.95
HEADROOM = 1.12
_LEFT_OUT = {"warmup": "warm-up", "traced": "traced"}


@dataclass(frozen=True)
class Span:
    """Consecutive steps that the timing leaves out: ``first`` to ``last``, both included, and why."""

    first: int
    last: int
    label: str


@dataclass(frozen=True)
class Mark:
    """A step that stands out: an outlier of the timed steps, or one whose bar is cut off by the axis."""

    step: int
    ms: float
    text: str


@dataclass(frozen=True)
class StepSeries:
    """The steps in order: each bar is one step, or the mean of ``steps_per_bar`` where there are very many.

    Attributes:
        step: number of each bar's first step, shape (bars,).
        stages_ms: ms of each stage that took any time, each shape (bars,).
        timed: whether all steps of the bar count for the timing, shape (bars,).
        labels: what each bar is, shape (bars,), e.g. ``step 12``.
        spans: the steps that are left out of the timing.
        marks: the steps that stand out, longest first if there are more than `MAX_MARKS`.
        median_ms: of the timed steps; None where none is timed.
        axis_ms: where the chart ends.
        caption: in words, what the chart shows.
    """

    step: tuple[int, ...]
    stages_ms: tuple[tuple[Stage, tuple[float, ...]], ...]
    timed: tuple[bool, ...]
    labels: tuple[str, ...]
    spans: tuple[Span, ...]
    marks: tuple[Mark, ...]
    median_ms: float | None
    axis_ms: float
    steps_per_bar: int
    caption: str


def step_series(steps: pd.DataFrame) -> StepSeries:
    """Lay a step table (`RunFolder.steps`, at least one row) out for a chart.

    Raises:
        KeyError: it lacks a column.
    """
    per_bar = -(-len(steps) // MAX_BARS)
    total_ms = steps["duration_s"] * 1e3
    timed_ms = total_ms[steps["phase"] == "timed"]
    median_ms = float(timed_ms.median()) if len(timed_ms) else None
    axis_ms = _axis_end(total_ms, median_ms)
    spans = _left_out(steps["step"].tolist(), steps["phase"].tolist())
    marks = _marks(steps, median_ms, axis_ms)
    bars = steps.assign(timed=steps["phase"] == "timed").groupby(steps.index // per_bar)
    first, last = bars["step"].first().tolist(), bars["step"].last().tolist()
    return StepSeries(
        step=tuple(first),
        stages_ms=tuple(
            (stage, tuple((bars[stage.value].mean() * 1e3).tolist()))
            for stage in Stage
            if stage.value in steps and bool((steps[stage.value] > 0).any())
        ),
        timed=tuple(bars["timed"].all().tolist()),
        labels=tuple(_bar_label(a, b) for a, b in zip(first, last, strict=True)),
        spans=spans,
        marks=marks,
        median_ms=median_ms,
        axis_ms=axis_ms,
        steps_per_bar=per_bar,
        caption=_caption(len(steps), per_bar, spans, steps),
    )


def _axis_end(total_ms: pd.Series[float], median_ms: float | None) -> float:
    longest = float(total_ms.max())
    if median_ms is None or median_ms <= 0:
        return longest * HEADROOM
    usual = max(median_ms * AXIS_OVER_MEDIAN, float(total_ms.quantile(AXIS_QUANTILE)))
    return min(longest, usual) * HEADROOM


def _left_out(steps: Sequence[int], phases: Sequence[str]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for step, phase in zip(steps, phases, strict=True):
        label = _LEFT_OUT.get(phase)
        if label is None:
            continue
        if spans and spans[-1].label == label and spans[-1].last == step - 1:
            spans[-1] = Span(spans[-1].first, step, label)
        else:
            spans.append(Span(step, step, label))
    return tuple(spans)


def _marks(steps: pd.DataFrame, median_ms: float | None, axis_ms: float) -> tuple[Mark, ...]:
    chosen = steps[steps["outlier"] | (steps["duration_s"] * 1e3 > axis_ms)]
    chosen = chosen.nlargest(MAX_MARKS, "duration_s").sort_values("step")
    columns = (chosen["step"].tolist(), chosen["duration_s"].tolist(), chosen["phase"].tolist())
    return tuple(
        Mark(step, seconds * 1e3, _mark_text(step, seconds * 1e3, phase, median_ms))
        for step, seconds, phase in zip(*columns, strict=True)
    )


def _mark_text(step: int, ms: float, phase: str, median_ms: float | None) -> str:
    name = "first step" if step == 0 else f"step {step}"
    kind = "outlier" if phase == "timed" else _LEFT_OUT.get(phase, phase)
    against = f", {text.times(ms / median_ms)} the median" if median_ms else ""
    return f"{name}: {text.milliseconds(ms)}{against} ({kind})"


def _bar_label(first: int, last: int) -> str:
    return f"step {first}" if first == last else f"mean of steps {first} to {last}"


def _caption(n: int, per_bar: int, spans: Sequence[Span], steps: pd.DataFrame) -> str:
    timed = int((steps["phase"] == "timed").sum())
    outliers = int(steps["outlier"].sum())
    parts = [f"{text.count(n, 'step')}, {timed:,} of them timed"]
    parts += [f"each bar is the mean of {per_bar} steps"] if per_bar > 1 else []
    parts += ["shaded steps are left out of the timing"] if spans else []
    parts += [text.count(outliers, "outlier")] if outliers else []
    return "; ".join(parts) + "."
