"""The colours of the product: one per stage, the same in every chart, report and command.

The nine stage colours were chosen by searching around familiar hues for the set whose closest pair stays
furthest apart in OKLab under normal sight, protanopia, deuteranopia and tritanopia (simulation: Machado et
al. 2009), while every colour keeps a contrast of at least 2:1 against both the light and the dark page.
This module holds colours only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...profiler.vocabulary import IdleCause, Stage

LIGHT_PAGE = "#ffffff"
DARK_PAGE = "#171614"

STAGE_COLORS: Mapping[Stage, str] = MappingProxyType(
    {
        Stage.DATA_WAIT: "#e1ad06",
        Stage.H2D: "#8c72dd",
        Stage.FORWARD: "#56bdfd",
        Stage.BACKWARD: "#3f4fb6",
        Stage.OPTIMIZER: "#4e9f9c",
        Stage.COMMUNICATION: "#b8420a",
        Stage.HOST: "#cb7f41",
        Stage.CHECKPOINT: "#6b376f",
        Stage.EVALUATION: "#6b6b6b",
    }
)

DEVICE_COLORS: Mapping[str, str] = MappingProxyType(
    {
        "compute": STAGE_COLORS[Stage.FORWARD],
        "communication": STAGE_COLORS[Stage.COMMUNICATION],
        "copy": STAGE_COLORS[Stage.H2D],
        "idle": "rgba(128,132,140,0.35)",
    }
)
"""The device view: what an instant of the device was spent on."""

IDLE_CAUSE_COLORS: Mapping[IdleCause, str] = MappingProxyType(
    {
        IdleCause.DATA: STAGE_COLORS[Stage.DATA_WAIT],
        IdleCause.LAUNCH: STAGE_COLORS[Stage.BACKWARD],
        IdleCause.SYNC: STAGE_COLORS[Stage.OPTIMIZER],
        IdleCause.HOST: STAGE_COLORS[Stage.HOST],
        IdleCause.UNKNOWN: "rgba(128,132,140,0.55)",
    }
)

NEUTRAL = "#80848c"
"""Lines, baselines and whatever carries no meaning of its own; readable on both pages."""

NEUTRAL_FAINT = "rgba(128,132,140,0.22)"
"""Grid lines, empty cells, the not measured."""

BETTER = "#2a9d78"
WORSE = "#c8553d"
"""A measured gain and a measured loss. Never the only sign: a word or an arrow stands beside them."""

CATEGORICAL: tuple[str, ...] = (
    "#3f86d6",
    "#e1ad06",
    "#4e9f9c",
    "#b8420a",
    "#8c72dd",
    "#cb7f41",
    "#6b376f",
    "#80848c",
)
"""Series that are no stages (runs, categories), in order of use; at most eight lines in a chart."""

SEQUENTIAL: tuple[tuple[float, str], ...] = (
    (0.0, "rgba(86,189,253,0.10)"),
    (0.5, "rgba(86,189,253,0.36)"),
    (1.0, "rgba(86,189,253,0.62)"),
)
"""Few to many. See-through, so that the page's own ink stays readable on every cell in both themes."""


def stage_color(stage: Stage) -> str:
    """The colour of a stage as ``#rrggbb``."""
    return STAGE_COLORS[stage]


def ink(*, dark: bool) -> str:
    """The text colour for labels that lie on a figure's own shapes."""
    return "#fafafa" if dark else "#1f2430"
