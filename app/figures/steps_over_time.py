"""Steps over time: every step as a bar of stages, the left-out steps shaded, the outliers marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from ...profiler.vocabulary import Stage
from ..views import format as text
from ..views.steps import Mark, StepSeries
from .palette import NEUTRAL, NEUTRAL_FAINT, stage_color
from .template import styled

HEIGHT_PX = 340
LEFT_OUT_OPACITY = 0.45
#: Left-out steps closer than this share of the width to the last label go without one.
LABEL_EVERY_SHARE = 0.08


def steps_over_time(series: StepSeries) -> go.Figure:
    """Draw the steps: number along, ms up; a mark tells a step that stands out, cut off or not."""
    bars = [_stage(stage, values, series) for stage, values in series.stages_ms]
    figure = go.Figure([*bars, *_median(series), *_marks(series.marks, series.axis_ms)])
    figure.update_layout(barmode="stack", bargap=0.12, hovermode="x unified", legend={"y": 1.09})
    figure.update_xaxes(title="step", showgrid=False, range=_step_range(series))
    figure.update_yaxes(title="ms per step", range=[0, series.axis_ms])
    figure.update_layout(shapes=_shades(series), annotations=list(_labels(series)))
    return styled(figure, height_px=HEIGHT_PX)


def alt(series: StepSeries) -> str:
    """The figure in words."""
    median = f" The median step takes {text.milliseconds(series.median_ms)}." if series.median_ms else ""
    marks = "; ".join(mark.text for mark in series.marks[:5])
    return f"Steps over time by stage. {series.caption}{median}" + (f" {marks}." if marks else "")


def _stage(stage: Stage, values: Sequence[float], series: StepSeries) -> go.Bar:
    return go.Bar(
        x=[first + (series.steps_per_bar - 1) / 2 for first in series.step],
        y=values,
        width=series.steps_per_bar * 0.9,
        name=stage.label,
        marker={
            "color": stage_color(stage),
            "opacity": [1.0 if timed else LEFT_OUT_OPACITY for timed in series.timed],
            "line": {"width": 0},
        },
        hovertemplate="%{y:,.2f} ms",
    )


def _marks(marks: Sequence[Mark], axis_ms: float) -> Iterator[go.Scatter]:
    """A triangle over each such step; the longest, if it is cut off, has its time written beside it."""
    if not marks:
        return
    longest = max(marks, key=lambda mark: mark.ms)
    yield go.Scatter(
        x=[mark.step for mark in marks],
        y=[min(mark.ms * 1.03, axis_ms * 0.97) for mark in marks],
        mode="markers+text",
        marker={"symbol": "triangle-down", "size": 10, "color": NEUTRAL, "line": {"width": 0}},
        text=[text.milliseconds(mark.ms) if mark is longest and mark.ms > axis_ms else "" for mark in marks],
        textposition="middle right",
        cliponaxis=False,
        name="stands out",
        customdata=[mark.text for mark in marks],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _step_range(series: StepSeries) -> list[float]:
    return [series.step[0] - 0.6, series.step[-1] + series.steps_per_bar - 0.4]


def _shades(series: StepSeries) -> list[dict[str, object]]:
    return [
        {
            "type": "rect",
            "x0": span.first - 0.5,
            "x1": span.last + 0.5,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "fillcolor": NEUTRAL_FAINT,
            "line": {"width": 0},
            "layer": "below",
        }
        for span in series.spans
    ]


def _labels(series: StepSeries) -> Iterator[dict[str, object]]:
    """Why steps are left out, above them, as far as the labels have room."""
    first, end = _step_range(series)
    free_from = first - 1
    for span in series.spans:
        if span.first >= free_from:
            free_from = span.first + LABEL_EVERY_SHARE * (end - first)
            yield {
                "x": span.first - 0.5,
                "y": 1.0,
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "bottom",
                "text": span.label,
                "showarrow": False,
            }


def _median(series: StepSeries) -> Iterator[go.Scatter]:
    if series.median_ms is None:
        return
    yield go.Scatter(
        x=_step_range(series),
        y=[series.median_ms, series.median_ms],
        mode="lines",
        line={"color": NEUTRAL, "width": 1.5, "dash": "dot"},
        name=f"median {text.milliseconds(series.median_ms)}",
        hoverinfo="skip",
    )
