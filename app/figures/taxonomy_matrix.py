"""The first taxonomy as a heat map: parts of the recipe down, actions across, methods counted in every cell.

Heat maps cannot be selected in Plotly, so every cell also holds an unseen marker that takes hover and
click; the point nearest to the pointer is always the cell's own. Its ``customdata`` is (component,
subcomponent, action).
"""

from __future__ import annotations

import math

import plotly.graph_objects as go

from ..views.catalog import LEARNING_LEFT_ALONE, Matrix, MatrixCell
from ..views.tables import NO_EFFECT_ON_LEARNING
from .palette import NEUTRAL, SEQUENTIAL, ink
from .template import styled

ROW_HEIGHT_PX = 20
ALGORITHMIC_ROWS = 6


def taxonomy_matrix(matrix: Matrix, *, dark: bool, chosen: tuple[str, str] | None = None) -> go.Figure:
    """The heat map. ``chosen`` (row label, action) is outlined; ``dark`` picks the ink on the cells."""
    figure = go.Figure([_colours(matrix), _targets(matrix, ink(dark=dark))])
    figure.update_xaxes(
        tickvals=list(range(len(matrix.column_labels))),
        ticktext=[_column_title(label) for label in matrix.column_labels],
        side="top", showgrid=False, zeroline=False, fixedrange=True,
        range=[-0.5, len(matrix.column_labels) - 0.5],
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(matrix.row_labels))), ticktext=[f"{label}  " for label in matrix.row_labels],
        showgrid=False, zeroline=False, fixedrange=True, range=[len(matrix.row_labels) - 0.5, -0.5],
    )  # fmt: skip
    figure.update_layout(
        hovermode="closest", hoverdistance=-1, clickmode="event+select", dragmode=False, showlegend=False,
        shapes=[*_thin_outlines(matrix), _grid_border(matrix), *_chosen_outline(matrix, chosen)],
    )  # fmt: skip
    return styled(figure, height_px=ROW_HEIGHT_PX * len(matrix.row_labels) + 44)


def matrix_alt(matrix: Matrix) -> str:
    """The heat map in words."""
    known = [cell for line in matrix.cells for cell in line if cell.methods]
    fullest = max(known, key=lambda cell: cell.methods or 0)
    total = sum(cell.methods or 0 for cell in known)
    return (
        f"Heat map of {total} methods over {len(matrix.row_labels)} parts of a recipe and "
        f"{len(matrix.column_labels)} actions. The fullest cell is {_title(fullest)} with {fullest.methods}."
    )


def _colours(matrix: Matrix) -> go.Heatmap:
    depth = [[math.sqrt(cell.methods) if cell.methods else None for cell in line] for line in matrix.cells]
    return go.Heatmap(
        z=depth,
        colorscale=[list(stop) for stop in SEQUENTIAL],
        showscale=False,
        hoverinfo="skip",
        xgap=3,
        ygap=3,
    )


def _targets(matrix: Matrix, color: str) -> go.Scatter:
    cells = [(x, y, cell) for y, line in enumerate(matrix.cells) for x, cell in enumerate(line)]
    unseen = {"marker": {"opacity": 0}, "textfont": {"color": color}}
    return go.Scatter(
        x=[x for x, _, _ in cells],
        y=[y for _, y, _ in cells],
        text=["" if cell.methods is None else str(cell.methods) for _, _, cell in cells],
        customdata=[[cell.component, cell.subcomponent, cell.action] for _, _, cell in cells],
        hovertext=[_hover(cell) for _, _, cell in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        mode="markers+text",
        marker={"symbol": "square", "size": 20, "opacity": 0},
        textfont={"color": color, "size": 13},
        selected=unseen,
        unselected=unseen,
    )


def _column_title(label: str) -> str:
    return NO_EFFECT_ON_LEARNING if label == LEARNING_LEFT_ALONE else label


def _title(cell: MatrixCell) -> str:
    return f"{cell.component}.{cell.subcomponent} × {_column_title(cell.action)}"


def _hover(cell: MatrixCell) -> str:
    if cell.methods is None:
        return f"<b>{_title(cell)}</b><br>{cell.note}"
    note = f"<br>{cell.note}" if cell.note else ""
    return f"<b>{_title(cell)}</b><br>{cell.methods} methods, {cell.core} core{note}"


def _thin_outlines(matrix: Matrix) -> list[dict[str, object]]:
    thin = [
        (x, y)
        for y, line in enumerate(matrix.cells[:ALGORITHMIC_ROWS])
        for x, cell in enumerate(line)
        if cell.methods is not None and cell.note
    ]
    return [_outline(x, y, {"color": NEUTRAL, "width": 1.2, "dash": "dot"}) for x, y in thin]


def _chosen_outline(matrix: Matrix, chosen: tuple[str, str] | None) -> list[dict[str, object]]:
    if chosen is None or chosen[0] not in matrix.row_labels or chosen[1] not in matrix.column_labels:
        return []
    x, y = matrix.column_labels.index(chosen[1]), matrix.row_labels.index(chosen[0])
    return [_outline(x, y, {"color": "#3f86d6", "width": 2.5})]


def _outline(x: int, y: int, line: dict[str, object]) -> dict[str, object]:
    return {
        "type": "rect", "x0": x - 0.48, "x1": x + 0.48, "y0": y - 0.44, "y1": y + 0.44, "line": line,
        "fillcolor": "rgba(0,0,0,0)",
    }  # fmt: skip


def _grid_border(matrix: Matrix) -> dict[str, object]:
    """The line between the first survey's grid and our system rows."""
    edge = ALGORITHMIC_ROWS - 0.5
    return {
        "type": "line", "x0": -0.5, "x1": len(matrix.column_labels) - 0.5, "y0": edge, "y1": edge,
        "line": {"color": NEUTRAL, "width": 1},
    }  # fmt: skip
