"""The device view: what the device was spent on as one bar, and below its idle end why it idled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from ..views.device import DeviceBar, DeviceSegment
from .contrast import ink_on
from .palette import DEVICE_COLORS, IDLE_CAUSE_COLORS, ink
from .template import styled

#: A segment narrower than this share has its label in the legend only.
LABEL_FROM_SHARE = 0.09
FRAME_PX = 76
ROW_PX = 57
DEVICE, CAUSES = "device", "idle, by cause"


def device_bar(bar: DeviceBar, *, dark: bool) -> go.Figure:
    """Draw the shares of one device; causes lie under the idle time that they split."""
    return device_bars([("", bar)], dark=dark)


def device_bars(bars: Sequence[tuple[str, DeviceBar]], *, dark: bool) -> go.Figure:
    """Draw one or several named device views on one axis; ``dark`` picks the ink on see-through segments."""
    named: set[str] = set()
    pen = ink(dark=dark)
    figure = go.Figure([trace for name, bar in bars for trace in _bar(name, bar, named, pen)])
    figure.update_layout(barmode="stack", bargap=0.12, hovermode="closest", legend={"itemclick": False})
    figure.update_xaxes(tickformat=".0%", range=[0, 1], showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, fixedrange=True)
    rows = sum(1 + bool(bar.causes) for _, bar in bars)
    return styled(figure, height_px=FRAME_PX + ROW_PX * rows)


def alt(bar: DeviceBar) -> str:
    """The figure in words."""
    parts = "; ".join(f"{segment.label} {segment.percent}" for segment in bar.segments)
    return f"Bar of the device's time: {parts}"


def segment_color(segment: DeviceSegment) -> str:
    """The colour of a use of the device, or of a cause of idling."""
    return DEVICE_COLORS[segment.use] if segment.cause is None else IDLE_CAUSE_COLORS[segment.cause]


def _bar(name: str, bar: DeviceBar, named: set[str], pen: str) -> Iterator[go.Bar]:
    """The segments of one device; ``named`` grows by those that the legend has now."""
    for segment in bar.uses:
        yield _segment(segment, _row(name, DEVICE), named=named, pen=pen)
    start = 1 - bar.uses[-1].share
    for segment in bar.causes:
        yield _segment(segment, _row(name, CAUSES), named=named, pen=pen, base=start)
        start += segment.share


def _row(name: str, what: str) -> str:
    return f"{name}: {what}" if name else what


def _segment(
    segment: DeviceSegment, row: str, *, named: set[str], pen: str, base: float | None = None
) -> go.Bar:
    color = segment_color(segment)
    label = f"<b>{segment.label}</b><br>{segment.percent}"
    in_legend = segment.share > 0 and segment.label not in named
    named |= {segment.label} if in_legend else set()
    return go.Bar(
        x=[segment.share],
        y=[row],
        base=None if base is None else [base],
        orientation="h",
        name=segment.label,
        legendgroup=segment.label,
        showlegend=in_legend,
        marker={"color": color, "line": {"width": 0}},
        text=[label if segment.share >= LABEL_FROM_SHARE else ""],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": ink_on(color) if color.startswith("#") else pen},
        hovertemplate=f"{label} of the window<extra></extra>",
    )
