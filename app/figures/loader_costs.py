"""What loading spends per sample: computing solid, waiting pale, one bar per transform."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from ...profiler.vocabulary import Stage
from ..views.loader import CostRow
from .palette import STAGE_COLORS
from .template import styled

ROW_PX = 32
FRAME_PX = 96
WAITING_OPACITY = 0.4


def loader_costs(rows: Sequence[CostRow]) -> go.Figure:
    """Draw the rows in the order given, ms per sample along."""
    names = [_name(row) for row in rows]
    color = STAGE_COLORS[Stage.DATA_WAIT]
    computing = go.Bar(
        x=[row.cpu_ms for row in rows],
        y=names,
        orientation="h",
        name="computing",
        marker={"color": color, "line": {"width": 0}},
        customdata=[row.cpu for row in rows],
        hovertemplate="computing %{customdata}<extra></extra>",
    )
    waiting = go.Bar(
        x=[row.wait_ms for row in rows],
        y=names,
        orientation="h",
        name="waiting",
        marker={
            "color": color,
            "opacity": WAITING_OPACITY,
            "pattern": {"shape": "/", "size": 6, "solidity": 0.3},
            "line": {"width": 0},
        },
        customdata=[row.wait for row in rows],
        hovertemplate="waiting %{customdata}<extra></extra>",
    )
    figure = go.Figure([computing, waiting])
    figure.update_layout(barmode="stack", hovermode="y unified", legend={"itemclick": False})
    figure.update_xaxes(title="ms per sample", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(rows))


def alt(rows: Sequence[CostRow]) -> str:
    """The figure in words."""
    parts = "; ".join(f"{row.name} computes {row.cpu} and waits {row.wait}" for row in rows[:8])
    return f"Time per sample of loading: {parts}"


def _name(row: CostRow) -> str:
    return escape(f"{row.name}  {row.place}".rstrip(), quote=False)
