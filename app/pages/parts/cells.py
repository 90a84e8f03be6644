"""The taxonomy's cells for one finding as a small table: where to look, in green, and where not, dashed, with why."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from urllib.parse import urlencode

from ...views.advice import ACTIONS, CellMatrix, CellView
from ...views.tables import NO_EFFECT_ON_LEARNING


def matrix(found: CellMatrix) -> str:
    """The table as HTML: parts of the recipe down, actions across."""
    used = [number for number in range(len(ACTIONS)) if any(row[number] for _, row in found.rows)]
    head = "".join(f"<th>{escape(ACTIONS[number] or NO_EFFECT_ON_LEARNING)}</th>" for number in used)
    rows = "".join(
        f"<tr><th>{escape(part)}</th>{''.join(f'<td>{_cells(row[number])}</td>' for number in used)}</tr>"
        for part, row in found.rows
    )
    left = f'<p class="rx-quiet">{escape(found.left)}</p>' if found.left else ""
    return f'<div class="rx-cells"><table><tr><th></th>{head}</tr>{rows}</table>{left}</div>'


def _cells(cells: tuple[CellView, ...]) -> str:
    return "".join(_cell(cell) for cell in cells)


def _cell(cell: CellView) -> str:
    name, links = escape(cell.subcomponent), " ".join((*map(_link, cell.methods), *_more(cell)))
    if not cell.avoid:
        return f'<div class="rx-cell look" title="{escape(cell.reason)}"><b>{name}</b> {links}</div>'
    return (
        f'<div class="rx-cell avoid"><b>avoid: {name}</b> {links}'
        f'<div class="rx-small">{escape(cell.reason)}</div></div>'
    )


def _more(cell: CellView) -> Iterator[str]:
    if cell.methods_left:
        yield f'<span class="rx-small">and {cell.methods_left:,} more</span>'


def _link(method: str) -> str:
    query = escape(urlencode({"method": method}))
    return f'<a href="methods?{query}" target="_self">{escape(method)}</a>'
