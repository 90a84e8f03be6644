"""Kernel classes by their share of all kernel time."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from ..views.device import COMMUNICATION, COMPUTE, COPY, KernelRow
from .palette import DEVICE_COLORS
from .template import styled

ROW_PX = 28
FRAME_PX = 50
#: The axis ends at this multiple of the longest bar, so that its label fits.
LABEL_ROOM = 1.35
_USES = {"communication": COMMUNICATION, "copy": COPY}


def kernel_classes(kernels: Sequence[KernelRow]) -> go.Figure:
    """Draw one bar per class, largest first; communication and copies keep their colours."""
    figure = go.Figure(
        go.Bar(
            x=[row.share for row in kernels],
            y=[escape(row.name, quote=False) for row in kernels],
            orientation="h",
            marker={
                "color": [DEVICE_COLORS[_USES.get(row.name, COMPUTE)] for row in kernels],
                "line": {"width": 0},
            },
            text=[f"{row.percent} · {row.time}" for row in kernels],
            textposition="outside",
            cliponaxis=False,
            customdata=[(row.count, row.mean) for row in kernels],
            hovertemplate=(
                "<b>%{y}</b><br>%{text}<br>%{customdata[0]} kernels, %{customdata[1]} each<extra></extra>"
            ),
        )
    )
    longest = max((row.share for row in kernels), default=1.0)
    figure.update_xaxes(tickformat=".0%", range=[0, longest * LABEL_ROOM])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(kernels))


def alt(kernels: Sequence[KernelRow]) -> str:
    """The figure in words."""
    return "Kernel time by class: " + "; ".join(
        f"{row.name} {row.percent} ({row.time})" for row in kernels[:8]
    )
