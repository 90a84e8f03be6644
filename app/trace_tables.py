"""Tables for the terminal: the device bar, kernel classes, stages and ranks of an imported run."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..profiler.report import DeviceShares, Report
from ..profiler.vocabulary import Stage

BAR_CELLS = 60
RANK_ROWS = 16
NOTE_ROWS = 8
_PARTS = (
    ("compute", "compute_share", "green"),
    ("communication", "exposed_communication_share", "magenta"),
    ("copy", "exposed_copy_share", "cyan"),
)
_CAUSE_STYLES = {
    "data": "red",
    "launch": "yellow",
    "sync": "bright_red",
    "host": "blue",
    "unknown": "bright_black",
}


def report_view(report: Report) -> Group:
    """The verdict sentence and every table that the report has rows for."""
    parts: list[RenderableType] = [Text(report.verdict, style="bold"), Text()]
    if report.device is not None:
        parts += [device_bar(report.device), Text()]
    elif report.device_reason:
        parts += [Text(f"Device: {report.device_reason}.", style="dim"), Text()]
    parts += [
        table
        for table in (_steps(report), _stages(report), _kernels(report), _ranks(report))
        if table is not None
    ]
    parts += _notes(report)
    return Group(*parts)


def device_bar(device: DeviceShares) -> Text:
    """The device view as a bar of cells and a legend, every part once."""
    parts = [(name, float(getattr(device, key)), style) for name, key, style in _PARTS]
    parts += [
        (f"idle: {cause}", share, _CAUSE_STYLES[str(cause)]) for cause, share in device.idle_causes.items()
    ]
    shown = [(name, share, style) for name, share, style in parts if share >= 0.0005]
    bar = Text("Device  ")
    for cells, (_, _, style) in zip(_cells([share for _, share, _ in shown]), shown, strict=True):
        bar.append("█" * cells, style=style)
    bar.append("\n        ")
    for name, share, style in shown:
        bar.append("■ ", style=style)
        bar.append(f"{name} {share * 100:.1f} %  ")
    return bar


def _cells(shares: list[float]) -> list[int]:
    """Whole cells that sum to the bar's length, by largest remainder."""
    exact = [share * BAR_CELLS for share in shares]
    cells = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: cells[place] - exact[place])
    for place in by_remainder[: max(BAR_CELLS - sum(cells), 0)]:
        cells[place] += 1
    return cells


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim"
    )
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right")
    return table


def _steps(report: Report) -> Text | None:
    if report.step_time is None:
        return Text(f"Steps: {report.step_time_reason}.\n", style="dim") if report.step_time_reason else None
    step = report.step_time
    return Text(
        f"Steps   {step.n} measured, median {step.p50_s * 1000:.2f} ms, "
        f"95th percentile {step.p95_s * 1000:.2f} ms\n"
    )


def _stages(report: Report) -> Table | None:
    if not report.stages:
        return None
    table = _table("Host stages of the training thread", "stage", "ms per step", "share")
    for stage in report.stages:
        table.add_row(stage.name.label, f"{stage.seconds_per_step * 1000:.2f}", f"{stage.share * 100:.1f} %")
    return table


def _kernels(report: Report) -> Table | None:
    if not report.kernel_classes:
        return None
    table = _table("Kernels by class", "class", "ms", "count", "mean us", "share")
    for row in report.kernel_classes:
        table.add_row(
            row.name,
            f"{row.seconds * 1000:.2f}",
            str(row.count),
            f"{row.mean_us:.1f}",
            f"{row.share * 100:.1f} %",
        )
    return table


def _ranks(report: Report) -> Table | None:
    if len(report.ranks) < 2:
        return None
    late = report.collectives.late_rank if report.collectives is not None else None
    stages = [
        stage for stage in Stage if any(one.name is stage for rank in report.ranks for one in rank.stages)
    ]
    table = _table(
        "Ranks",
        "rank",
        "window ms",
        "busy",
        "exposed comm.",
        "waiting",
        "last",
        *(stage.label for stage in stages),
    )
    for rank in report.ranks[:RANK_ROWS]:
        told = {one.name: one.share for one in rank.stages}
        waits = rank.collectives
        table.add_row(
            f"{rank.rank}{' late' if rank.rank == late else ''}",
            "-" if rank.window_s is None else f"{rank.window_s * 1000:.1f}",
            "-" if rank.device is None else _percent(rank.device.busy_share),
            "-" if rank.device is None else _percent(rank.device.exposed_communication_share),
            "-" if waits is None else _percent(waits.waiting_share),
            "-" if waits is None else str(waits.times_last),
            *(_percent(told[stage]) if stage in told else "-" for stage in stages),
            style="red" if rank.rank == late else None,
        )
    if len(report.ranks) > RANK_ROWS:
        table.caption = f"and {len(report.ranks) - RANK_ROWS} more ranks, in report.json"
    return table


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _notes(report: Report) -> list[RenderableType]:
    notes = report.recorder.notes
    shown: list[RenderableType] = [Text(f"Note: {note}", style="dim") for note in notes[:NOTE_ROWS]]
    if len(notes) > NOTE_ROWS:
        shown.append(Text(f"and {len(notes) - NOTE_ROWS} more notes, in report.json", style="dim"))
    return shown
