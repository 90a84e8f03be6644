"""Lines of Python by time: where the training thread was, named by file and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

import plotly.graph_objects as go

from ..views.diagnosis import LineView
from .palette import stage_color
from .template import styled

MAX_LINES = 14
ROW_PX = 30
FRAME_PX = 80
GUESS_OPACITY = 0.45
#: The axis ends at this multiple of the longest bar, so that its label fits.
LABEL_ROOM = 1.3


def host_lines(lines: Sequence[LineView]) -> go.Figure:
    """Draw the longest lines, coloured by stage; a line that few samples saw is pale."""
    shown = longest(lines)
    figure = go.Figure(list(_by_stage(shown)))
    figure.update_layout(barmode="overlay", bargap=0.3, hovermode="closest", legend={"itemclick": False})
    figure.update_xaxes(
        title="ms per step", range=[0, max((line.ms for line in shown), default=1.0) * LABEL_ROOM]
    )
    figure.update_yaxes(
        autorange="reversed",
        showgrid=False,
        tickmode="array",
        tickvals=list(range(len(shown))),
        ticktext=[_label(line) for line in shown],
    )
    return styled(figure, height_px=FRAME_PX + ROW_PX * len(shown))


def longest(lines: Sequence[LineView]) -> list[LineView]:
    """The lines that take longest, by stage and time."""
    kept = sorted(range(len(lines)), key=lambda number: -lines[number].ms)[:MAX_LINES]
    return [lines[number] for number in sorted(kept)]


def alt(lines: Sequence[LineView]) -> str:
    """The figure in words."""
    parts = "; ".join(f"{line.place} {line.time} in {line.stage.label}" for line in longest(lines)[:6])
    return f"Lines of Python by time per step: {parts}"


def _by_stage(lines: Sequence[LineView]) -> Iterator[go.Bar]:
    """One trace per stage; the rows keep their place."""
    for stage, group in groupby(enumerate(lines), key=lambda item: item[1].stage):
        rows = list(group)
        yield go.Bar(
            x=[line.ms for _, line in rows],
            y=[position for position, _ in rows],
            orientation="h",
            name=stage.label,
            showlegend=True,
            marker={
                "color": stage_color(stage),
                "opacity": [1.0 if line.certain else GUESS_OPACITY for _, line in rows],
                "line": {"width": 0},
            },
            text=[f"{line.time} · {line.percent}" for _, line in rows],
            textposition="outside",
            cliponaxis=False,
            customdata=[_details(line) for _, line in rows],
            hovertemplate=(
                "<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{text} of the step<br>"
                "%{customdata[2]}<extra>" + stage.label + "</extra>"
            ),
        )


def _label(line: LineView) -> str:
    return escape(f"{line.place}  {line.function}", quote=False)


def _details(line: LineView) -> tuple[str, str, str]:
    return escape(line.full_place, quote=False), escape(line.function, quote=False), line.samples
