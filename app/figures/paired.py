"""Two runs side by side: stages as paired bars, step times as distributions. The first run is grey in both."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ..views import format as text
from ..views.compare import FIRST, SECOND, Side, StagePair
from .palette import CATEGORICAL, NEUTRAL
from .template import styled

ROW_PX = 46
FRAME_PX = 84
BOX_HEIGHT_PX = 230
#: Above so many steps only the outliers are drawn as points.
POINTS_UP_TO = 300
COLORS = {FIRST: NEUTRAL, SECOND: CATEGORICAL[0]}
#: The axis ends at this multiple of the longest bar, so that its label fits.
LABEL_ROOM = 1.3


def paired_stages(pairs: Sequence[StagePair]) -> go.Figure:
    """Draw two bars per stage, the largest change first; the change stands beside the second."""
    before = _bars(FIRST, pairs, [pair.before_ms for pair in pairs], [pair.before for pair in pairs])
    after = _bars(
        SECOND,
        pairs,
        [pair.after_ms for pair in pairs],
        [f"{pair.after}  <b>{pair.change}</b>" for pair in pairs],
    )
    figure = go.Figure([before, after])
    longest = max((max(pair.before_ms, pair.after_ms) for pair in pairs), default=1.0)
    figure.update_layout(barmode="group", bargap=0.28, bargroupgap=0.06, hovermode="closest")
    figure.update_xaxes(title="ms per step", range=[0, longest * LABEL_ROOM])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(pairs))


def stages_alt(pairs: Sequence[StagePair]) -> str:
    """The stages in words."""
    parts = "; ".join(f"{pair.stage.label} {pair.before} then {pair.after} ({pair.change})" for pair in pairs)
    return f"Stages of the first and the second run: {parts}"


def step_times(sides: Sequence[Side]) -> go.Figure:
    """Draw the timed steps of each run as a box with its points."""
    shown = [side for side in sides if side.steps_ms]
    figure = go.Figure([_box(side) for side in shown])
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_xaxes(title="ms per step", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height_px=BOX_HEIGHT_PX)


def steps_alt(sides: Sequence[Side]) -> str:
    """The distributions in words."""
    return "Distribution of step times: " + "; ".join(f"{side.name} run {side.step_time}" for side in sides)


def _bars(name: str, pairs: Sequence[StagePair], times: Sequence[float], words: Sequence[str]) -> go.Bar:
    return go.Bar(
        x=times,
        y=[pair.stage.label for pair in pairs],
        orientation="h",
        name=f"{name} run",
        marker={"color": COLORS[name], "line": {"width": 0}},
        text=words,
        textposition="outside",
        cliponaxis=False,
        hovertemplate="<b>%{y}</b><br>%{text}<extra>" + name + " run</extra>",
    )


def _box(side: Side) -> go.Box:
    few = len(side.steps_ms) <= POINTS_UP_TO
    return go.Box(
        x=side.steps_ms,
        name=f"{side.name} run, {text.count(len(side.steps_ms), 'step')}",
        orientation="h",
        boxpoints="all" if few else "outliers",
        jitter=0.5,
        pointpos=0,
        marker={"color": COLORS[side.name], "size": 4, "opacity": 0.6},
        line={"color": COLORS[side.name], "width": 1.5},
        hovertemplate="%{x:,.2f} ms<extra></extra>",
    )
