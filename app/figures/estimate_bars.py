"""Estimated shares of stages: open bars with whiskers, for nothing of it was timed."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ..views.estimate import ShareView
from .palette import NEUTRAL, stage_color
from .template import styled

ROW_PX = 36
FRAME_PX = 46
ESTIMATED_OPACITY = 0.55


def estimate_bars(shares: Sequence[ShareView]) -> go.Figure:
    """Draw one bar per stage with its interval, largest first; the words stand right of the whisker."""
    bars = go.Bar(
        x=[one.share for one in shares],
        y=[one.stage.label for one in shares],
        orientation="h",
        marker={
            "color": [stage_color(one.stage) for one in shares],
            "opacity": ESTIMATED_OPACITY,
            "line": {"width": 1.5, "color": [stage_color(one.stage) for one in shares]},
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.share for one in shares],
            "arrayminus": [one.share - one.low for one in shares],
            "color": NEUTRAL,
            "thickness": 1.5,
            "width": 5,
        },
        customdata=[one.text for one in shares],
        hovertemplate="<b>%{y}</b><br>%{customdata}<extra></extra>",
        showlegend=False,
    )
    figure = go.Figure([bars, _words(shares)])
    figure.update_xaxes(tickformat=".0%", range=[0, max((one.high for one in shares), default=1.0) + 0.22])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(shares))


def alt(shares: Sequence[ShareView]) -> str:
    """The figure in words."""
    return "Estimated shares: " + "; ".join(f"{one.stage.label} {one.text}" for one in shares)


def _words(shares: Sequence[ShareView]) -> go.Scatter:
    return go.Scatter(
        x=[one.high for one in shares],
        y=[one.stage.label for one in shares],
        mode="text",
        text=[f"  {one.text}" for one in shares],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
