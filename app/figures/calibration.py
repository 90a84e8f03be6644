"""Predicted against measured speed-ups of all trials, with both intervals; on the diagonal they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ...advisor.trial.calibration import ScoredPrediction
from .palette import CATEGORICAL, NEUTRAL
from .template import styled

HEIGHT_PX = 380
#: Both axes end at this multiple beyond the least and the greatest value.
EDGE = 1.12
OTHER_RUNS, THIS_RUN = "other runs", "this run"
COLORS = {THIS_RUN: CATEGORICAL[0], OTHER_RUNS: NEUTRAL}


def calibration(found: Sequence[ScoredPrediction], *, run: str) -> go.Figure:
    """Draw one marker per scored prediction, those of ``run`` in colour; both axes are logarithmic."""
    least, most = _ends(found)
    own = [one for one in found if one.run == run]
    others = [one for one in found if one.run != run]
    figure = go.Figure(
        [_agreement(least, most), *(_markers(*group) for group in ((OTHER_RUNS, others), (THIS_RUN, own)))]
    )
    figure.update_layout(hovermode="closest")
    ticks = [tick for tick in (0.1, 0.2, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 50) if least <= tick <= most]
    axis: dict[str, Any] = {
        "type": "log",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [f"{tick:g}×" for tick in ticks],
    }
    figure.update_layout(
        xaxis={**axis, "title": {"text": "predicted speed-up"}},
        yaxis={**axis, "title": {"text": "measured speed-up"}},
    )
    return styled(figure, height_px=HEIGHT_PX)


def alt(found: Sequence[ScoredPrediction]) -> str:
    """The figure in words."""
    parts = "; ".join(
        f"{one.knobs} predicted {one.predicted:.2f}×, measured {one.measured:.2f}×" for one in found[:8]
    )
    return f"Predicted against measured speed-ups of {len(found)} trials: {parts}"


def _ends(found: Sequence[ScoredPrediction]) -> tuple[float, float]:
    lows = [min(one.predicted_low, one.measured_low) for one in found]
    highs = [max(one.predicted_high, one.measured_high) for one in found]
    return min([0.9, *lows]) / EDGE, max([1.1, *highs]) * EDGE


def _agreement(least: float, most: float) -> go.Scatter:
    return go.Scatter(
        x=[least, most],
        y=[least, most],
        mode="lines",
        name="measured as predicted",
        line={"color": NEUTRAL, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )


def _markers(name: str, found: Sequence[ScoredPrediction]) -> go.Scatter:
    return go.Scatter(
        x=[one.predicted for one in found],
        y=[one.measured for one in found],
        mode="markers",
        name=name,
        showlegend=bool(found),
        marker={"size": 10, "color": COLORS[name]},
        error_x=_whiskers([(one.predicted_low, one.predicted, one.predicted_high) for one in found]),
        error_y=_whiskers([(one.measured_low, one.measured, one.measured_high) for one in found]),
        customdata=[(one.knobs, one.run, one.trial) for one in found],
        hovertemplate=(
            "<b>%{customdata[0]}</b><br>predicted %{x:.2f}×, measured %{y:.2f}×<br>"
            "trial %{customdata[2]} of %{customdata[1]}<extra></extra>"
        ),
    )


def _whiskers(values: Sequence[tuple[float, float, float]]) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - middle for _, middle, high in values],
        "arrayminus": [middle - low for low, middle, _ in values],
        "thickness": 1,
        "width": 3,
        "color": NEUTRAL,
    }
