"""Speed-up over the whole range of qualities that a method and the baseline both reach, with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from ...advisor.compare.curves import Direction
from ...advisor.compare.speedups import Speedup
from ..views.format import times
from ..views.quality import Line, QualityView
from ..views.quality_words import interval
from .palette import NEUTRAL
from .quality_curves import color, faint, shown
from .template import styled

HEIGHT_PX = 320
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
#: Where the axis spans less than this ratio, these lie between.
NARROW = 6.0
BETWEEN = (0.6, 0.7, 0.8, 0.9, 1.1, 1.25, 1.5, 3, 4)
#: An interval that is not bounded is drawn to this multiple beyond all that is.
BEYOND = 1.3


def speedup_curve(view: QualityView) -> go.Figure:
    """Draw one line per method; better qualities lie further right, above 1 the method is cheaper."""
    least, most = _ends(view.lines)
    figure = go.Figure(
        [trace for line in view.lines for trace in _traces(line, least, most)],
        layout={"hovermode": "closest"},
    )
    every = sorted((*TICKS, *BETWEEN)) if most / least < NARROW else TICKS
    ticks = [tick for tick in every if least <= tick <= most]
    figure.update_xaxes(
        title=shown(view.metric),
        autorange="reversed" if view.direction is Direction.LOWER else True,
        showgrid=False,
    )
    figure.update_yaxes(
        title="speed-up",
        type="log",
        tickmode="array",
        tickvals=ticks,
        ticktext=[f"{tick:g}×" for tick in ticks],
    )
    figure.update_layout(showlegend=True, shapes=list(_rulers(view)))
    return styled(figure, height_px=HEIGHT_PX)


def alt(view: QualityView) -> str:
    """The figure in words."""
    parts = [
        f"{line.name} {times(line.speedups.speedups[0].median)} at {line.speedups.quality[0]:.4g}, "
        f"{times(line.speedups.speedups[-1].median)} at {line.speedups.quality[-1]:.4g}"
        for line in view.lines
        if line.speedups is not None
    ]
    return f"Speed-up against {view.metric}: {'; '.join(parts)}"


def _traces(line: Line, least: float, most: float) -> Iterator[go.Scatter]:
    found = line.speedups
    if found is None:
        return
    qualities = found.quality.tolist()
    if all(one.has_interval for one in found.speedups) and len(qualities) > 1:
        yield _area(line, qualities, found.speedups, least, most)
    yield go.Scatter(
        x=qualities,
        y=[one.median for one in found.speedups],
        mode="lines" if len(qualities) > 1 else "markers",
        name=shown(line.name),
        line={"color": color(line.place), "width": 2.25},
        customdata=[interval(one) for one in found.speedups],
        hovertemplate=(
            f"<b>{shown(line.name)}</b><br>%{{y:.2f}}× at %{{x:.4g}}<br>%{{customdata}}<extra></extra>"
        ),
    )


def _area(
    line: Line, qualities: list[float], speedups: Sequence[Speedup], least: float, most: float
) -> go.Scatter:
    low = [one.low if one.low is not None else least for one in speedups]
    high = [one.high if one.high is not None else most for one in speedups]
    return go.Scatter(
        x=[*qualities, *reversed(qualities)],
        y=[*high, *reversed(low)],
        fill="toself",
        fillcolor=faint(line.place),
        line={"width": 0},
        mode="lines",
        showlegend=False,
        hoverinfo="skip",
    )


def _rulers(view: QualityView) -> Iterator[dict[str, object]]:
    """No difference across, the target upright."""
    look = {"color": NEUTRAL, "width": 1.5, "dash": "dot"}
    yield {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "layer": "below", "line": look,
    }  # fmt: skip
    if view.target is not None:
        yield {
            "type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": view.target, "x1": view.target,
            "layer": "below", "line": look,
        }  # fmt: skip


def _ends(lines: Sequence[Line]) -> tuple[float, float]:
    told = [
        value
        for line in lines
        if line.speedups is not None
        for one in line.speedups.speedups
        for value in (one.low, one.median, one.high)
        if value is not None
    ]
    return min([0.9, *told]) / BEYOND, max([1.1, *told]) * BEYOND
