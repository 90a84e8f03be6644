"""What-ifs as predictions: open markers for the predicted step, a tick for the bound, a line for the measured one."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from ..views.what_ifs import WhatIfView
from .palette import CATEGORICAL, NEUTRAL
from .template import styled

ROW_PX = 30
FRAME_PX = 96
PREDICTED = CATEGORICAL[0]


def what_ifs(view: WhatIfView) -> go.Figure:
    """Draw one row per change: from the measured step to the predicted one, and the bound."""
    names = _names(view)
    figure = go.Figure([*_ways(view), _bounds(view), _predicted(view), _words(view)])
    figure.update_layout(hovermode="closest", legend={"itemclick": False}, shapes=[_measured(view)])
    figure.update_xaxes(title="ms per step", range=_range(view))
    figure.update_yaxes(
        categoryorder="array", categoryarray=names[::-1], range=[-0.6, len(names) - 0.4], showgrid=False
    )
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(names))


def alt(view: WhatIfView) -> str:
    """The figure in words."""
    parts = "; ".join(
        f"{row.change}: {row.predicted} ({row.speedup}), bound {row.bound}" for row in view.rows
    )
    return f"Predicted step times, against {view.measured} measured: {parts}"


def _predicted(view: WhatIfView) -> go.Scatter:
    return go.Scatter(
        x=[row.predicted_ms for row in view.rows],
        y=_names(view),
        mode="markers",
        name="predicted",
        marker={"symbol": "circle-open", "size": 12, "color": PREDICTED, "line": {"width": 2}},
        customdata=[(row.predicted, row.speedup, row.bound) for row in view.rows],
        hovertemplate=(
            "<b>%{y}</b><br>predicted %{customdata[0]}, %{customdata[1]}<br>bound %{customdata[2]}<extra></extra>"
        ),
    )


def _bounds(view: WhatIfView) -> go.Scatter:
    return go.Scatter(
        x=[row.bound_ms for row in view.rows],
        y=_names(view),
        mode="markers",
        name="bound",
        marker={"symbol": "line-ns-open", "size": 14, "color": NEUTRAL, "line": {"width": 2}},
        hoverinfo="skip",
    )


def _ways(view: WhatIfView) -> list[go.Scatter]:
    return [
        go.Scatter(
            x=[view.measured_ms, row.predicted_ms],
            y=[name, name],
            mode="lines",
            line={"color": PREDICTED, "width": 1.5, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
        for row, name in zip(view.rows, _names(view), strict=True)
    ]


def _names(view: WhatIfView) -> list[str]:
    return [escape(row.change, quote=False) for row in view.rows]


def _measured(view: WhatIfView) -> dict[str, object]:
    return {
        "type": "line", "x0": view.measured_ms, "x1": view.measured_ms, "yref": "paper", "y0": 0, "y1": 1,
        "line": {"color": NEUTRAL, "width": 2}, "name": f"measured {view.measured}", "showlegend": True,
    }  # fmt: skip


def _words(view: WhatIfView) -> go.Scatter:
    """What is predicted, in words, right of the measured step."""
    return go.Scatter(
        x=[view.measured_ms] * len(view.rows),
        y=_names(view),
        mode="text",
        text=[f"  <b>{row.speedup}</b>  {row.predicted}" for row in view.rows],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _range(view: WhatIfView) -> list[float]:
    """From a little below the least time that occurs to the words right of the measured one."""
    least = min(row.bound_ms for row in view.rows)
    width = view.measured_ms - least
    return [max(0.0, least - 0.06 * width), view.measured_ms + 0.2 * width]
