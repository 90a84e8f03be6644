"""Tables of a report: stages, findings, kernel classes, ranks. An empty table is None."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ...profiler.report import Finding, KernelClass, RankInfo, Report, StageShare
from ...profiler.vocabulary import Severity, Stage
from ..figures.palette import STAGE_COLORS
from ..views.format import duration, per_step, percent, place
from ..views.native_code import NativeView
from ..views.ranks import collective_uses, late_rank

RANK_ROWS = 16
NATIVE_ROWS = 8
#: More stage columns do not fit a terminal of 80 cells.
RANK_STAGES = 2
_SEVERITY_STYLES = {Severity.HIGH: "bold red", Severity.MODERATE: "yellow", Severity.NOTE: "dim"}
_ABSENT = "-"


def stage_table(stages: Sequence[StageShare]) -> Table:
    """The stages by time per step."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("left", "left", "right", "right"):
        table.add_column(justify=justify)
    for stage in sorted(stages, key=lambda stage: -stage.share):
        mark = Text("■", style=STAGE_COLORS[stage.name])
        table.add_row(mark, stage.name.label, duration(stage.seconds_per_step), percent(stage.share))
    return table


def finding_table(findings: Sequence[Finding]) -> Table:
    """The findings, headline first."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "kind", "cause"):
        table.add_column(heading, no_wrap=True)
    table.add_column("per step", justify="right")
    table.add_column("share", justify="right")
    table.add_column("where", overflow="fold")
    for finding in findings:
        table.add_row(
            Text(str(finding.severity), style=_SEVERITY_STYLES[finding.severity]),
            str(finding.kind),
            finding.cause or "not known",
            per_step(finding.ms_per_step) if finding.share else "–",
            percent(finding.share) if finding.share else "–",
            place(finding.where[0]) if finding.where else "",
        )
    return table


def kernel_table(classes: Sequence[KernelClass]) -> Table:
    """Device time by class of kernels."""
    table = _numbers("kernels", "time", "count", "mean", "share")
    for row in classes:
        table.add_row(
            row.name, duration(row.seconds), str(row.count), f"{row.mean_us:.1f} µs", percent(row.share)
        )
    return table


def native_table(view: NativeView) -> Table:
    """The first lines of the script with the native functions that they were in."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("line", overflow="fold")
    table.add_column("share", justify="right")
    table.add_column("of the line, in", overflow="fold")
    for row in view.rows[:NATIVE_ROWS]:
        mark = "child: " if row.process == "child" else ""
        table.add_row(f"{mark}{row.line}", row.share, row.functions)
    return table


def rank_table(report: Report) -> Table:
    """The ranks, each with its stages; the one that the others wait for is marked."""
    ranks = report.ranks
    late = late_rank(report)
    stages = _telling_stages(ranks)
    table = _numbers("rank", "window", "busy", "comm.", "waiting", "last", *(stage.label for stage in stages))
    for rank in ranks[:RANK_ROWS]:
        table.add_row(
            *_rank_row(rank, stages, late=rank.rank == late), style="red" if rank.rank == late else None
        )
    if len(ranks) > RANK_ROWS:
        table.caption = f"and {len(ranks) - RANK_ROWS} more ranks, in report.json"
    return table


def collective_table(report: Report) -> Table:
    """What the first rank exchanges in a step, by kind of collective."""
    table = _numbers("collective", "per step", "bytes", "time")
    for row in collective_uses(report):
        table.add_row(*row.values())
    return table


def _telling_stages(ranks: Sequence[RankInfo]) -> list[Stage]:
    """The stages whose share differs most between ranks, in the order of the vocabulary."""
    shares = {stage: [_share(rank, stage) for rank in ranks] for stage in Stage}
    spread = {stage: max(values) - min(values) for stage, values in shares.items()}
    widest = sorted(spread, key=lambda stage: -spread[stage])[:RANK_STAGES]
    return [stage for stage in Stage if stage in widest and spread[stage] > 0]


def _share(rank: RankInfo, stage: Stage) -> float:
    return next((one.share for one in rank.stages if one.name is stage), 0.0)


def _rank_row(rank: RankInfo, stages: Sequence[Stage], *, late: bool) -> list[str]:
    waits, device = rank.collectives, rank.device
    last = _ABSENT if rank.last_share is None else percent(rank.last_share)
    return [
        f"{rank.rank}{' late' if late else ''}",
        _ABSENT if rank.window_s is None else duration(rank.window_s),
        _ABSENT if device is None else percent(device.busy_share),
        _ABSENT if device is None else percent(device.exposed_communication_share),
        _ABSENT if waits is None else percent(waits.waiting_share),
        last if waits is None else f"{waits.times_last}×",
        *(percent(_share(rank, stage)) for stage in stages),
    ]


def _numbers(first: str, *columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table
