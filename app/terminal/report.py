"""Prints a report: verdict first, then the stage bar, findings, cost, and where the run lies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...profiler.report import Finding, Prescription, Report, StageShare
from ...profiler.vocabulary import RunStatus, Severity
from ..figures.palette import STAGE_COLORS

BAR_WIDTH = 64
SHOWN_PRESCRIPTIONS = 3
_SEVERITY_STYLES = {Severity.HIGH: "bold red", Severity.MODERATE: "yellow", Severity.NOTE: "dim"}
_ENDINGS = {
    RunStatus.RECORDING: "still recording",
    RunStatus.FINISHED: "the script ran to its end",
    RunStatus.STOPPED: "stopped once enough was recorded (--full lets the script run to its end)",
    RunStatus.FAILED: "the script failed",
    RunStatus.INTERRUPTED: "interrupted",
    RunStatus.LOST: "the recorder itself was killed; what it had recorded is here",
    RunStatus.IMPORTED: "imported from a trace",
}


def print_report(report: Report, folder: Path, *, stderr: bool = False) -> None:
    """Print a run's report on stdout, or on stderr beside a script that owns stdout."""
    Console(stderr=stderr, highlight=False, soft_wrap=False).print(render(report, folder))


def render(report: Report, folder: Path) -> RenderableType:
    """The report as one rich renderable."""
    parts: list[RenderableType] = [Text(), Text(report.verdict, style="bold"), Text()]
    if report.step_time is not None:
        parts += [_step_line(report), stage_bar(report.stages), _stage_table(report.stages)]
    if report.findings:
        parts += [Text(), Text("Findings", style="bold"), _finding_table(report.findings)]
    if report.prescriptions:
        parts += [Text(), Text("What to try", style="bold"), *_prescriptions(report.prescriptions)]
    parts += [Text(), *_footer(report, folder)]
    return Padding(Group(*parts), (0, 0, 1, 0))


def _step_line(report: Report) -> Text:
    time = report.step_time
    assert time is not None
    return Text(
        f"step {time.p50_s * 1e3:.1f} ms median, {time.p95_s * 1e3:.1f} ms p95, over {time.n} steps "
        f"after {report.run.steps_warmup} of warm-up"
    )


def stage_bar(stages: Sequence[StageShare], width: int = BAR_WIDTH) -> Text:
    """One bar of ``width`` cells, every stage in its colour; cells are shared out by largest remainder."""
    bar = Text()
    for stage, cells in zip(stages, _cells([stage.share for stage in stages], width), strict=True):
        bar.append("█" * cells, style=STAGE_COLORS[stage.name])
    return bar


def _cells(shares: Sequence[float], width: int) -> list[int]:
    exact = [share * width for share in shares]
    cells = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda index: cells[index] - exact[index])
    for index in by_remainder[: width - sum(cells)]:
        cells[index] += 1
    return cells


def _stage_table(stages: Sequence[StageShare]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    for stage in sorted(stages, key=lambda stage: -stage.share):
        color = STAGE_COLORS[stage.name]
        table.add_row(
            Text("■", style=color),
            stage.name.label,
            f"{stage.seconds_per_step * 1e3:.2f} ms",
            _percent(stage.share),
        )
    return table


def _finding_table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "kind", "cause"):
        table.add_column(heading)
    table.add_column("ms/step", justify="right")
    table.add_column("share", justify="right")
    table.add_column("where", overflow="fold")
    for finding in findings:
        table.add_row(
            Text(str(finding.severity), style=_SEVERITY_STYLES[finding.severity]),
            str(finding.kind),
            finding.cause or "not known",
            f"{finding.ms_per_step:.2f}",
            _percent(finding.share),
            str(finding.where[0]) if finding.where else "",
        )
    return table


def _prescriptions(prescriptions: Sequence[Prescription]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for number, prescription in enumerate(prescriptions[:SHOWN_PRESCRIPTIONS], start=1):
        lines.append(
            Text.assemble(f"{number}. ", (prescription.title, "bold"), f"  {_predicted(prescription)}")
        )
        lines.append(Padding(Text(prescription.how), (0, 0, 0, 3)))
        lines.append(Padding(Text(f"rests on {prescription.basis}", style="dim"), (0, 0, 0, 3)))
    rest = len(prescriptions) - SHOWN_PRESCRIPTIONS
    if rest > 0:
        lines.append(Text(f"   and {rest} more, in the dashboard and with --json", style="dim"))
    return lines


def _predicted(prescription: Prescription) -> str:
    predicted = prescription.predicted_speedup
    kind = f"{prescription.equivalence}, {prescription.effort}"
    if predicted is None:
        return f"gain not predicted ({kind})"
    return f"predicted {predicted.mid:.2f}× ({predicted.low:.2f} to {predicted.high:.2f}; {kind})"


def _footer(report: Report, folder: Path) -> list[RenderableType]:
    lines = [f"run: {_ENDINGS[report.run.status]}"]
    if report.run.exit_code:
        lines[0] += f"; its exit code was {report.run.exit_code}"
    lines.append(f"recorder: {_cost(report)}")
    lines += [f"note: {note}" for note in report.recorder.notes]
    lines.append(f"folder: {folder}   (open it with `trainrx ui`)")
    return [Text(line, style="dim") for line in lines]


def _cost(report: Report) -> str:
    cost = report.recorder
    if cost.overhead_share is None or cost.overhead_us_per_step is None:
        return "its own cost was not measured, for want of steps"
    return (
        f"cost about {cost.overhead_us_per_step:.0f} µs per step, {cost.overhead_share * 100:.2f} % of it, "
        "as measured in this run"
    )


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
