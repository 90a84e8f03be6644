"""Predicted speed-ups as open markers with their range and bound; filled markers are measured by trials."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from ..views.advice import Gain
from .palette import BETTER, CATEGORICAL, NEUTRAL, WORSE
from .template import styled

ROW_PX = 30
FRAME_PX = 92
MAX_ROWS = 15
PREDICTED = CATEGORICAL[0]
#: What the two rows of marks of one prescription are apart, in rows.
APART = 0.16


def gains(found: Sequence[Gain]) -> go.Figure:
    """Draw one row per prescription, in order; left of 1 is slower."""
    shown = found[:MAX_ROWS]
    rows = list(range(len(shown)))
    figure = go.Figure([_bounds(shown, rows), _predicted(shown, rows), _measured(shown, rows)])
    figure.update_layout(hovermode="closest", legend={"itemclick": False}, shapes=[_unchanged()])
    figure.update_xaxes(
        title="speed-up: step time now over step time then", ticksuffix="×", range=_range(shown)
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=rows,
        ticktext=[f"{_name(gain)}  " for gain in shown],
        range=[len(shown) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(shown))


def alt(found: Sequence[Gain]) -> str:
    """The figure in words."""
    parts = (f"{gain.label}: {gain.words}{_also(gain)}" for gain in found[:MAX_ROWS])
    return "Speed-ups of the prescriptions. " + "; ".join(parts)


def _name(gain: Gain) -> str:
    return escape(gain.label, quote=False)


def _also(gain: Gain) -> str:
    return f", {gain.measured_words}" if gain.measured_words else ""


def _predicted(shown: Sequence[Gain], rows: Sequence[int]) -> go.Scatter:
    return go.Scatter(
        x=[gain.mid for gain in shown],
        y=[row - APART if gain.measured else row for gain, row in zip(shown, rows, strict=True)],
        mode="markers",
        name="predicted, with its range",
        marker={"symbol": "circle-open", "size": 11, "color": PREDICTED, "line": {"width": 2}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [gain.high - gain.mid for gain in shown],
            "arrayminus": [gain.mid - gain.low for gain in shown],
            "color": PREDICTED,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[(_name(gain), gain.words) for gain in shown],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
    )


def _bounds(shown: Sequence[Gain], rows: Sequence[int]) -> go.Scatter:
    return go.Scatter(
        x=[gain.bound for gain in shown],
        y=list(rows),
        mode="markers",
        name="bound: all exposed time gone, and what it slows",
        marker={"symbol": "line-ns-open", "size": 14, "color": NEUTRAL, "line": {"width": 2}},
        hoverinfo="skip",
    )


def _measured(shown: Sequence[Gain], rows: Sequence[int]) -> go.Scatter:
    """Empty where no trial measured anything; its place in the legend tells what filled markers mean."""
    pairs = [(gain, row) for gain, row in zip(shown, rows, strict=True) if gain.measured is not None]
    triples = [gain.measured for gain, _ in pairs if gain.measured is not None]
    return go.Scatter(
        x=[median for median, _, _ in triples],
        y=[row + APART for _, row in pairs],
        mode="markers",
        name="measured by a trial",
        showlegend=bool(pairs),
        marker={
            "symbol": "circle",
            "size": 11,
            "color": [BETTER if median >= 1 else WORSE for median, _, _ in triples],
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - median for median, _, high in triples],
            "arrayminus": [median - low for median, low, _ in triples],
            "color": NEUTRAL,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[(_name(gain), gain.measured_words) for gain, _ in pairs],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
    )


def _unchanged() -> dict[str, object]:
    return {
        "type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
        "line": {"color": NEUTRAL, "width": 1.5, "dash": "dot"},
    }  # fmt: skip


def _range(shown: Sequence[Gain]) -> list[float]:
    least = min([1.0, *(gain.low for gain in shown), *(gain.measured[1] for gain in shown if gain.measured)])
    most = max([*(gain.bound for gain in shown), *(gain.measured[2] for gain in shown if gain.measured)])
    edge = 0.04 * (most - least) or 0.05
    return [least - edge, most + edge]
