"""Device memory over time as a curve, with its peak and what was reserved."""

from __future__ import annotations

from collections.abc import Iterator

import plotly.graph_objects as go

from ..views.memory import MemoryView
from .palette import CATEGORICAL, NEUTRAL
from .template import styled

HEIGHT_PX = 260
FILL = "rgba(63,134,214,0.18)"


def memory_curve(view: MemoryView) -> go.Figure:
    """Draw GiB over seconds."""
    curve = go.Scatter(
        x=view.time_s,
        y=view.allocated_gib,
        mode="lines",
        name="allocated",
        line={"color": CATEGORICAL[0], "width": 1.5, "shape": "hv"},
        fill="tozeroy",
        fillcolor=FILL,
        hovertemplate="%{y:,.2f} GiB<extra></extra>",
    )
    figure = go.Figure([curve, *_levels(view)])
    figure.update_layout(hovermode="x unified")
    figure.update_xaxes(title="seconds", showgrid=False)
    figure.update_yaxes(title="GiB", rangemode="tozero")
    return styled(figure, height_px=HEIGHT_PX)


def alt(view: MemoryView) -> str:
    """The figure in words."""
    return f"Device memory over time. {view.caption}"


def _levels(view: MemoryView) -> Iterator[go.Scatter]:
    levels = (
        (view.peak_allocated_gib, f"peak {view.peak_allocated}", "dot"),
        (view.peak_reserved_gib, f"reserved {view.peak_reserved}", "dash"),
    )
    for height, name, dash in levels:
        if height is not None and view.time_s:
            yield go.Scatter(
                x=[view.time_s[0], view.time_s[-1]],
                y=[height, height],
                mode="lines",
                name=name,
                line={"color": NEUTRAL, "width": 1.5, "dash": dash},
                hoverinfo="skip",
            )
