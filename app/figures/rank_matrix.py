"""Ranks by stages as a heat map: times written in the cells, darker where a rank takes longer than the median one."""

from __future__ import annotations

import plotly.graph_objects as go

from ..views.ranks import RankMatrix
from .palette import SEQUENTIAL, WORSE, ink
from .template import styled

ROW_PX = 30
SMALL_ROW_PX = 13
FRAME_PX = 40
#: Above so many ranks the times are told on hover only.
TEXT_UP_TO = 32
#: The scale ends here at least, as a share of the step: equal ranks stay pale.
FULL_AT_LEAST = 0.05


def rank_matrix(matrix: RankMatrix, *, dark: bool) -> go.Figure:
    """Draw the matrix; the late rank's row is outlined."""
    texts = len(matrix.ranks) <= TEXT_UP_TO
    excess = [[cell.excess for cell in row] for row in matrix.cells]
    figure = go.Figure(
        go.Heatmap(
            x=[stage.label for stage in matrix.stages],
            y=list(matrix.ranks),
            z=excess,
            zmin=0,
            zmax=max(FULL_AT_LEAST, *(max(row) for row in excess)),
            text=[[cell.text if texts else "" for cell in row] for row in matrix.cells],
            customdata=[[cell.hover for cell in row] for row in matrix.cells],
            texttemplate="%{text}",
            textfont={"color": ink(dark=dark)},
            hovertemplate="%{customdata}<extra></extra>",
            colorscale=[list(stop) for stop in SEQUENTIAL],
            showscale=False,
            xgap=3,
            ygap=3 if texts else 1,
        )
    )
    figure.update_xaxes(side="top", showgrid=False, fixedrange=True)
    figure.update_yaxes(autorange="reversed", showgrid=False, fixedrange=True)
    figure.update_layout(shapes=[_outline(row, len(matrix.stages)) for row in matrix.late])
    return styled(figure, height_px=FRAME_PX + (ROW_PX if texts else SMALL_ROW_PX) * len(matrix.ranks))


def alt(matrix: RankMatrix) -> str:
    """The figure in words."""
    stages = ", ".join(stage.label for stage in matrix.stages)
    return f"Heat map of {len(matrix.ranks)} ranks by stage ({stages}). {matrix.sentence}"


def _outline(row: int, columns: int) -> dict[str, object]:
    return {
        "type": "rect", "x0": -0.5, "x1": columns - 0.5, "y0": row - 0.5, "y1": row + 0.5,
        "line": {"color": WORSE, "width": 2}, "fillcolor": "rgba(0,0,0,0)",
    }  # fmt: skip
