"""Where every training ended, and the front of those that no other one beats in both cost and quality."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ...advisor.compare.quality_cost import EndPoint
from ..views.quality import QualityView
from ..views.quality_words import quality
from .log_axis import log_axis
from .palette import NEUTRAL
from .quality_curves import color, shown
from .template import styled

HEIGHT_PX = 320
BEATEN_OPACITY = 0.35
#: Costs within this ratio of each other need no logarithmic axis.
NARROW = 3.0


def quality_front(view: QualityView, *, log_cost: bool = False) -> go.Figure:
    """Draw one marker per training; beaten ones are faint, the front is a step line."""
    front = sorted((end for end in view.ends if end.on_front), key=lambda end: end.cost)
    groups = [
        (line.name, line.place, [end for end in view.ends if end.method == line.name]) for line in view.lines
    ]
    figure = go.Figure([_steps(front), *(_markers(*group) for group in groups if group[2])])
    figure.update_layout(hovermode="closest")
    costs = [end.cost for end in view.ends]
    wide = min(costs) > 0 and max(costs) / min(costs) > NARROW
    figure.update_xaxes(title=f"{shown(view.cost_title)} at the end", showgrid=False, rangemode="tozero")
    if log_cost and wide:
        figure.update_xaxes(**log_axis(costs))
    figure.update_yaxes(title=f"best {shown(view.metric)}")
    return styled(figure, height_px=HEIGHT_PX)


def alt(view: QualityView) -> str:
    """The figure in words."""
    front = sorted((end for end in view.ends if end.on_front), key=lambda end: end.cost)
    parts = "; ".join(f"{_name(end)}: {quality(end.quality)} for {end.cost:,.4g}" for end in front[:10])
    return f"Ends of {len(view.ends)} trainings, best {view.metric} against {view.cost_title}. On the front: {parts}"


def _steps(front: Sequence[EndPoint]) -> go.Scatter:
    return go.Scatter(
        x=[end.cost for end in front],
        y=[end.quality for end in front],
        mode="lines",
        line={"color": NEUTRAL, "width": 1.5, "shape": "hv"},
        name="front",
        showlegend=len(front) > 1,
        hoverinfo="skip",
    )


def _markers(name: str, place: int, ends: Sequence[EndPoint]) -> go.Scatter:
    return go.Scatter(
        x=[end.cost for end in ends],
        y=[end.quality for end in ends],
        mode="markers",
        name=shown(name),
        marker={
            "size": 10,
            "color": color(place),
            "opacity": [1.0 if end.on_front else BEATEN_OPACITY for end in ends],
        },
        customdata=[shown(_name(end)) for end in ends],
        hovertemplate="<b>%{customdata}</b><br>%{y:.4g} for %{x:,.4g}<extra></extra>",
    )


def _name(end: EndPoint) -> str:
    return end.method if end.seed is None else f"{end.method}, seed {end.seed}"
