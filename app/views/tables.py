"""Parts of a run as rows of tables, columns by name: the same in dashboard and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .advice import ACTIONS, CellMatrix, CellView
from .crossings import CrossingRow
from .device import KernelRow
from .diagnosis import LineView, RankView
from .memory_use import MemoryUseView
from .native_code import NativeRow

NO_EFFECT_ON_LEARNING = "no effect on what is learned"


def line_rows(lines: Iterable[LineView]) -> list[dict[str, str]]:
    """Every sampled line, with its full path."""
    return [
        {
            "stage": line.stage.label,
            "line": line.full_place,
            "function": line.function,
            "per step": line.time,
            "share": line.percent,
            "seen in": line.samples,
        }
        for line in lines
    ]


def rank_rows(ranks: Iterable[RankView]) -> list[dict[str, str]]:
    """The training processes of a run."""
    return [
        {
            "rank": rank.rank,
            "steps": rank.steps,
            "median step": rank.step_time,
            "biggest stage": rank.biggest_stage,
            "others waited for it in": rank.waited_for,
            "note": rank.note,
        }
        for rank in ranks
    ]


def crossing_rows(crossings: Iterable[CrossingRow]) -> list[dict[str, str]]:
    """What copies to the GPU and from it, or waits for it, by line."""
    return [
        {
            "what": row.what,
            "line": row.line,
            "per step": row.time,
            "calls": row.calls,
            "copied": row.size,
            "from": row.memory,
        }
        for row in crossings
    ]


def native_rows(lines: Iterable[NativeRow]) -> list[dict[str, str]]:
    """The native functions that lines of Python were in."""
    return [
        {"process": row.process, "line": row.line, "share": row.share, "of the line, in": row.functions}
        for row in lines
    ]


def memory_use_rows(view: MemoryUseView) -> list[dict[str, str]]:
    """What fills the memory at its peak."""
    return [
        {"use": name, "size": size, "of the peak": share, "basis": basis}
        for name, size, share, basis in view.parts
    ]


def memory_fact_rows(view: MemoryUseView) -> list[dict[str, str]]:
    """Growth, reserves and limits of the memory."""
    return [{"fact": name, "value": value} for name, value in view.facts]


def kernel_rows(kernels: Iterable[KernelRow]) -> list[dict[str, str]]:
    """Device time by class of kernels."""
    return [
        {"class": row.name, "time": row.time, "share": row.percent, "kernels": row.count, "mean": row.mean}
        for row in kernels
    ]


def cell_rows(matrix: CellMatrix) -> list[dict[str, str]]:
    """The cells of the taxonomy for one finding, one row each, those to avoid last."""
    cells = sorted(_cells(matrix), key=lambda found: found[2].avoid)
    return [
        {
            "part": f"{component}.{cell.subcomponent}",
            "what is done": action,
            "advice": "avoid" if cell.avoid else "look here",
            "methods": _methods(cell),
            "because": cell.reason,
        }
        for component, action, cell in cells
    ]


def _methods(cell: CellView) -> str:
    more = f" and {cell.methods_left:,} more" if cell.methods_left else ""
    return ", ".join(cell.methods) + more


def _cells(matrix: CellMatrix) -> Iterator[tuple[str, str, CellView]]:
    for component, row in matrix.rows:
        for action, cells in zip(ACTIONS, row, strict=True):
            yield from ((component, action or NO_EFFECT_ON_LEARNING, cell) for cell in cells)
