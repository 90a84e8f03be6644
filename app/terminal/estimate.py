"""Shows shares that were estimated from samples, each with its interval, told apart from measured ones."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...profiler.report import Estimate
from ..figures.palette import STAGE_COLORS


def estimate_view(estimate: Estimate) -> list[RenderableType]:
    """What was looked at, and a row for each stage."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("left", "left", "right", "right"):
        table.add_column(justify=justify)
    for stage in sorted(estimate.stages, key=lambda stage: -stage.share):
        table.add_row(
            Text("■", style=STAGE_COLORS[stage.name]),
            stage.name.label,
            f"≈ {stage.share * 100:.0f} %",
            f"{stage.low * 100:.0f} to {stage.high * 100:.0f} %",
        )
    heading = (
        f"estimated from {estimate.samples} sampled stacks over {estimate.seconds:g} s, with 95 % intervals"
    )
    return [Text(heading), table]
