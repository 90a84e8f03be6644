"""The shared look of all figures: transparent, quiet, readable on the light and the dark page.

Figures call `styled` last. Text takes the page's colour in the dashboard (Streamlit's own theme lies on
top) and a middle grey elsewhere. This module sets looks only, never data.
"""

from __future__ import annotations

from typing import TypeAlias

import plotly.graph_objects as go

from .palette import CATEGORICAL, NEUTRAL, NEUTRAL_FAINT, SEQUENTIAL

#: What every figure function returns; pages take the type from here and leave Plotly alone.
Figure: TypeAlias = go.Figure
TRANSPARENT = "rgba(0,0,0,0)"
FONT = '"Source Sans", "Source Sans Pro", system-ui, -apple-system, "Segoe UI", sans-serif'


def _axis() -> dict[str, object]:
    return {
        "gridcolor": NEUTRAL_FAINT,
        "linecolor": NEUTRAL_FAINT,
        "zerolinecolor": NEUTRAL_FAINT,
        "automargin": True,
        "ticks": "",
        "title": {"standoff": 8, "font": {"size": 13}},
    }


def _build() -> go.layout.Template:
    return go.layout.Template(
        layout={
            "paper_bgcolor": TRANSPARENT,
            "plot_bgcolor": TRANSPARENT,
            "font": {"family": FONT, "size": 13, "color": NEUTRAL},
            "colorway": list(CATEGORICAL),
            "colorscale": {"sequential": [list(stop) for stop in SEQUENTIAL]},
            "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
            "xaxis": _axis(),
            "yaxis": {**_axis(), "ticklabelstandoff": 6},
            "legend": {"orientation": "h", "traceorder": "normal", "y": 1.02, "yanchor": "bottom", "x": 0},
            "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
            "bargap": 0.25,
        }
    )


TEMPLATE = _build()


def styled(figure: go.Figure, *, height_px: int | None = None) -> go.Figure:
    """Give a figure the product's look; ``uirevision`` keeps the reader's zoom over reruns."""
    figure.update_layout(template=TEMPLATE, uirevision="keep")
    if height_px is not None:
        figure.update_layout(height=height_px)
    return figure
