"""The second taxonomy as a tree map: categories, their groups, and how many methods each holds."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ...catalog.coverage import Group
from .palette import CATEGORICAL, NEUTRAL_FAINT, ink
from .template import styled

ROOT = "all methods"
SHADE = 0.28
SMALL_BELOW = 20


def taxonomy_tree(groups: Sequence[Group], *, dark: bool) -> go.Figure:
    """The tree map; a tile's area is its number of methods, a click goes into a category and back."""
    categories = list(dict.fromkeys(str(group.category) for group in groups))
    colours = {name: _see_through(CATEGORICAL[i]) for i, name in enumerate(categories)}
    totals = {name: sum(g.methods for g in groups if str(g.category) == name) for name in categories}
    ids = [ROOT, *categories, *(f"{group.category}/{group.subcategory}" for group in groups)]
    figure = go.Figure(
        go.Treemap(
            ids=ids,
            labels=[ROOT, *categories, *(str(group.subcategory) for group in groups)],
            parents=["", *[ROOT] * len(categories), *(str(group.category) for group in groups)],
            values=[sum(totals.values()), *totals.values(), *(group.methods for group in groups)],
            customdata=[_none(), *[_none()] * len(categories), *([_says(group)] for group in groups)],
            branchvalues="total",
            marker={
                "colors": [NEUTRAL_FAINT, *colours.values(), *(colours[str(g.category)] for g in groups)],
                "line": {"width": 1, "color": NEUTRAL_FAINT},
                "cornerradius": 4,
            },
            textfont={"color": ink(dark=dark), "size": 13},
            text=[ROOT, *categories, *(_broken(group) for group in groups)],
            texttemplate="%{text}<br>%{value}",
            hovertemplate="<b>%{label}</b><br>%{value} methods%{customdata[0]}<extra></extra>",
            tiling={"pad": 3},
            pathbar={"visible": True, "thickness": 22},
        )
    )
    return styled(figure, height_px=440)


def tree_alt(groups: Sequence[Group]) -> str:
    """The tree map in words."""
    fullest = max(groups, key=lambda group: group.methods)
    return (
        f"Tree map of {sum(group.methods for group in groups)} methods in {len(groups)} groups of the second "
        f"taxonomy. The largest group is {fullest.category} / {fullest.subcategory} with {fullest.methods}."
    )


def _none() -> list[str]:
    return [""]


def _broken(group: Group) -> str:
    """The label, broken at its hyphens where the tile is small."""
    label = str(group.subcategory)
    return label if group.methods >= SMALL_BELOW else label.replace("-", "-<br>")


def _says(group: Group) -> str:
    note = f"<br>{group.filling.value}" if group.filling.value else ""
    return f", {group.core} core<br>{group.evidence_rows} evidence rows{note}"


def _see_through(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{SHADE})"
