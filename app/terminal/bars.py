"""Bars of coloured cells: the stages of a step, and the device view."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ...profiler.report import DeviceShares, StageShare
from ...profiler.vocabulary import IdleCause
from ..figures.palette import DEVICE_COLORS, STAGE_COLORS, Stage
from ..views.format import percent

BAR_WIDTH = 64
#: The palette's idle colours are see-through; a terminal has no such thing.
_IDLE_STYLES = {
    IdleCause.DATA: STAGE_COLORS[Stage.DATA_WAIT],
    IdleCause.LAUNCH: STAGE_COLORS[Stage.BACKWARD],
    IdleCause.SYNC: STAGE_COLORS[Stage.OPTIMIZER],
    IdleCause.HOST: STAGE_COLORS[Stage.HOST],
    IdleCause.UNKNOWN: "bright_black",
}


def stage_bar(stages: Sequence[StageShare], width: int = BAR_WIDTH) -> Text:
    """One bar of ``width`` cells, every stage in its colour."""
    return _bar([(STAGE_COLORS[stage.name], stage.share) for stage in stages], width)


def device_bar(device: DeviceShares, width: int = BAR_WIDTH) -> Text:
    """The device view as a bar and its legend, every part once."""
    parts = [
        ("compute", DEVICE_COLORS["compute"], device.compute_share),
        ("exposed communication", DEVICE_COLORS["communication"], device.exposed_communication_share),
        ("exposed copy", DEVICE_COLORS["copy"], device.exposed_copy_share),
        *((f"idle: {cause}", _IDLE_STYLES[cause], share) for cause, share in device.idle_causes.items()),
    ]
    shown = [part for part in parts if part[2] >= 0.0005]
    text = _bar([(style, share) for _, style, share in shown], width)
    text.append("\n")
    for name, style, share in shown:
        text.append("■ ", style=style)
        text.append(f"{name} {percent(share)}   ")
    return text


def _bar(parts: Sequence[tuple[str, float]], width: int) -> Text:
    bar = Text()
    for (style, _), cells in zip(parts, cells_of([share for _, share in parts], width), strict=True):
        bar.append("█" * cells, style=style)
    return bar


def cells_of(shares: Sequence[float], width: int) -> list[int]:
    """Whole cells that sum to the bar's width, by largest remainder."""
    exact = [share * width for share in shares]
    cells = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda index: cells[index] - exact[index])
    for index in by_remainder[: max(width - sum(cells), 0)]:
        cells[index] += 1
    return cells
