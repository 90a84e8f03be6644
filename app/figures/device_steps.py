"""The device view of each traced step, as a bar of compute, exposed waits, and idle time by cause."""

from __future__ import annotations

import plotly.graph_objects as go

from ..views import format as text
from ..views.device import DeviceSteps
from .device_bar import segment_color
from .template import styled

HEIGHT_PX = 280


def device_steps(steps: DeviceSteps) -> go.Figure:
    """Draw the steps of one rank: number along, ms up."""
    figure = go.Figure(
        [
            go.Bar(
                x=steps.step,
                y=times_ms,
                name=segment.label,
                marker={"color": segment_color(segment), "line": {"width": 0}},
                hovertemplate="%{y:,.2f} ms",
            )
            for segment, times_ms in steps.segments_ms
        ]
    )
    figure.update_layout(barmode="stack", hovermode="x unified", legend={"y": 1.06})
    figure.update_xaxes(title="step", showgrid=False, tickformat="d", dtick=max(1, len(steps.step) // 12))
    figure.update_yaxes(title="ms of the device")
    return styled(figure, height_px=HEIGHT_PX)


def alt(steps: DeviceSteps) -> str:
    """The figure in words: each segment's mean."""
    parts = "; ".join(
        f"{segment.label} {text.milliseconds(sum(times) / len(times))}"
        for segment, times in steps.segments_ms
    )
    return f"Device view of {len(steps.step)} steps of rank {steps.rank}, in the mean: {parts}"
