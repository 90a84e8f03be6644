"""Series over time as small charts side by side, each with its own unit: no two units share an axis."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..views.telemetry import SeriesView
from .palette import CATEGORICAL
from .template import styled

COLUMNS = 3
ROW_PX = 170


def series_lines(series: Sequence[SeriesView]) -> go.Figure:
    """Draw each series in a chart of its own, seconds along."""
    columns = min(COLUMNS, len(series))
    rows = -(-len(series) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[escape(f"{one.name}, {one.unit}", quote=False) for one in series],
        horizontal_spacing=0.06,
        vertical_spacing=0.32 / rows,
    )
    for number, one in enumerate(series):
        figure.add_trace(_line(one), row=number // columns + 1, col=number % columns + 1)
    figure.update_layout(showlegend=False, hovermode="x", margin={"t": 28})
    figure.update_xaxes(ticksuffix=" s", showgrid=False)
    figure.update_yaxes(rangemode="tozero", nticks=4)
    figure.update_annotations(font={"size": 13})
    return styled(figure, height_px=ROW_PX * rows)


def alt(series: Sequence[SeriesView]) -> str:
    """The figure in words."""
    return "Over time: " + ", ".join(f"{one.name} ({one.unit})" for one in series)


def _line(one: SeriesView) -> go.Scatter:
    return go.Scatter(
        x=one.time_s,
        y=one.values,
        mode="lines",
        name=escape(one.name, quote=False),
        line={"color": CATEGORICAL[0], "width": 1.5},
        connectgaps=False,
        hovertemplate="%{y:,.3g} " + escape(one.unit, quote=False) + "<extra></extra>",
    )
