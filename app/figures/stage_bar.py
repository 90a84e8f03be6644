"""The stage bar: one step as one horizontal bar of exclusive stages that sum to it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ..views.diagnosis import StageView
from .contrast import ink_on
from .palette import stage_color
from .template import styled

#: A stage narrower than this share has its label in the legend only.
LABEL_FROM_SHARE = 0.075
HEIGHT_PX = 150


def stage_bar(stages: Sequence[StageView]) -> go.Figure:
    """Draw the stages of the mean step in the order they are given, ms along the axis."""
    figure = go.Figure([_segment(stage) for stage in stages])
    figure.update_layout(barmode="stack", bargap=0.0, hovermode="closest", legend={"itemclick": False})
    figure.update_xaxes(ticksuffix=" ms", range=[0, sum(stage.ms for stage in stages) or 1.0], showgrid=False)
    figure.update_yaxes(visible=False, fixedrange=True)
    return styled(figure, height_px=HEIGHT_PX)


def alt(stages: Sequence[StageView]) -> str:
    """The figure in words."""
    parts = "; ".join(f"{stage.stage.label} {stage.time} ({stage.percent})" for stage in stages)
    return f"Bar of the mean step by stage: {parts}"


def _segment(stage: StageView) -> go.Bar:
    color = stage_color(stage.stage)
    label = f"<b>{stage.stage.label}</b><br>{stage.time} · {stage.percent}"
    return go.Bar(
        x=[stage.ms],
        y=["step"],
        orientation="h",
        name=f"{stage.stage.label} {stage.percent}",
        marker={"color": color, "line": {"width": 0}},
        text=[label if stage.share >= LABEL_FROM_SHARE else ""],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": ink_on(color)},
        hovertemplate=f"{label} of the step<extra></extra>",
    )
