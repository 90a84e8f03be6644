"""Quality against cost, one line per method with the band of its seeds; the baseline is grey, the target dotted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from ..views.quality import Line, QualityView
from .log_axis import log_axis
from .palette import CATEGORICAL, NEUTRAL
from .template import styled

HEIGHT_PX = 420
BAND_OPACITY = 0.16
#: Up to so many evaluations each is a point; between them curves are interpolated.
POINTS_UP_TO = 12
#: The baseline first; as many as `views.quality.MAX_LINES`.
COLORS = (NEUTRAL, *(color for color in CATEGORICAL if color != NEUTRAL))


def quality_curves(view: QualityView, *, log_cost: bool = False, log_quality: bool = False) -> go.Figure:
    """Draw the curves; a band reaches from the least to the greatest of a method's seeds."""
    figure = go.Figure([*(trace for line in view.lines for trace in _traces(line)), *_target(view)])
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(
        title=shown(view.cost_title), showgrid=False, **(log_axis(_costs(view)) if log_cost else {})
    )
    figure.update_yaxes(title=shown(view.metric), **(log_axis(_qualities(view)) if log_quality else {}))
    return styled(figure, height_px=HEIGHT_PX)


def alt(view: QualityView) -> str:
    """The figure in words."""
    rows = ". ".join(line.words for line in view.lines)
    return f"{view.metric} against {view.cost_title}, median and band over seeds. {rows}"


def color(place: int) -> str:
    """The colour of a method, the same in all charts of a comparison."""
    return COLORS[place % len(COLORS)]


def faint(place: int, opacity: float = BAND_OPACITY) -> str:
    """The same colour, see-through."""
    red, green, blue = (int(color(place)[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _traces(line: Line) -> Iterator[go.Scatter]:
    band = line.band
    known = [
        (cost, low, high)
        for cost, low, high in zip(band.cost, band.low, band.high, strict=True)
        if low is not None and high is not None
    ]
    if any(low < high for _, low, high in known):
        yield _area(line, known)
    yield go.Scatter(
        x=band.cost.tolist(),
        y=list(band.median),
        mode="lines" if len(band.cost) > POINTS_UP_TO else "lines+markers",
        name=shown(line.name),
        legendgroup=line.name,
        line={"color": color(line.place), "width": 2.25},
        connectgaps=False,
        hovertemplate=f"<b>{shown(line.name)}</b><br>%{{y:.4g}} at %{{x:,.4g}}<extra></extra>",
    )


def _area(line: Line, known: Sequence[tuple[float, float, float]]) -> go.Scatter:
    costs = [cost for cost, _, _ in known]
    return go.Scatter(
        x=[*costs, *reversed(costs)],
        y=[*(high for _, _, high in known), *(low for _, low, _ in reversed(known))],
        fill="toself",
        fillcolor=faint(line.place),
        line={"width": 0},
        mode="lines",
        legendgroup=line.name,
        showlegend=False,
        hoverinfo="skip",
    )


def _target(view: QualityView) -> Iterator[go.Scatter]:
    if view.target is None:
        return
    costs = _costs(view)
    yield go.Scatter(
        x=[min(costs, default=0.0), max(costs, default=1.0)],
        y=[view.target, view.target],
        mode="lines",
        line={"color": NEUTRAL, "width": 1.5, "dash": "dot"},
        name=f"target {view.target_words}",
        hoverinfo="skip",
    )


def _costs(view: QualityView) -> list[float]:
    return [float(cost) for line in view.lines for cost in line.band.cost]


def _qualities(view: QualityView) -> list[float]:
    ends = (end for line in view.lines for end in (*line.band.low, *line.band.high))
    return [end for end in ends if end is not None]


def shown(name: str) -> str:
    """A method's name for a chart, where signs of markup are only signs."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace("%{", "% {")
