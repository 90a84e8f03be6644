"""Prints a report: verdict first, then where the time goes, findings, what to try, and where the run lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ...profiler.report import Prescription, Report
from ..views import headings
from ..views.compute import compute_line
from ..views.device_stages import caption
from ..views.ending import SAMPLE, ending
from ..views.format import duration, percent, times
from ..views.memory_use import memory_use_view
from ..views.native_code import native_view
from ..views.ranks import clocks
from ..views.window_cost import window_cost
from .bars import device_bar, stage_bar
from .console import console
from .estimate import estimate_view
from .tables import collective_table, finding_table, kernel_table, native_table, rank_table, stage_table

SHOWN_PRESCRIPTIONS = 3
SHOWN_NOTES = 8
#: Runs of which the recorder's cost is known: this machine's own, and those that come with trainrx.
RECORDED = ("recorder", SAMPLE)


def print_report(report: Report, folder: Path, *, stderr: bool = False) -> None:
    """Print a run's report on stdout, or on stderr beside a script that owns stdout."""
    console(stderr=stderr).print(render(report, folder))


def render(report: Report, folder: Path) -> RenderableType:
    """The report as one rich renderable."""
    parts = [Text(), Text(report.verdict, style="bold"), *_blocks(report), Text(), *_footer(report, folder)]
    return Padding(Group(*parts), (0, 0, 1, 0))


def _blocks(report: Report) -> Iterator[RenderableType]:
    if report.step_time is not None:
        yield from (Text(), _step_line(report))
        rate = None if report.compute is None else compute_line(report.compute)
        if rate is not None:
            yield Text(rate)
    elif report.stages:
        yield from (Text(), Text(f"no steps: {report.step_time_reason}", style="dim"))
    if report.stages:
        yield from (stage_bar(report.stages), stage_table(report.stages))
    if report.estimate is not None:
        yield from estimate_view(report.estimate)
    if report.device_stages is not None:
        by_device = report.device_stages
        table = stage_table(by_device.stages)
        yield from _block(
            headings.DEVICE_STAGES, Text(caption(by_device)), stage_bar(by_device.stages), table
        )
    if report.device is not None:
        yield from _block("Device", device_bar(report.device))
    native = native_view(report)
    if native is not None:
        yield from _block(headings.NATIVE, native_table(native), Text(native.caption, style="dim"))
    memory = memory_use_view(report)
    if memory is not None and report.memory_use is not None and report.memory_use.on_device:
        parts = ", ".join(f"{name} {size}" for name, size, *_ in memory.parts)
        yield from _block(memory.title, Text(f"{memory.caption} {parts}".rstrip()))
    if report.kernel_classes:
        yield from (Text(), kernel_table(report.kernel_classes))
    if len(report.ranks) > 1:
        yield from _block("Ranks", rank_table(report), *_clocks(report))
    if report.collective_uses:
        yield from _block(headings.COLLECTIVES, collective_table(report))
    if report.findings:
        yield from _block("Findings", finding_table(report.findings))
    if report.prescriptions:
        yield from _block("What to try", *_prescriptions(report.prescriptions))


def _clocks(report: Report) -> Iterator[RenderableType]:
    told = clocks(report)
    if told:
        yield Text(told, style="dim")


def _block(title: str, *content: RenderableType) -> Iterator[RenderableType]:
    yield from (Text(), Text(title, style="bold"), *content)


def _step_line(report: Report) -> Text:
    time = report.step_time
    assert time is not None
    warmup = f" after {report.run.steps_warmup} of warm-up" if report.run.steps_warmup else ""
    return Text(
        f"step {duration(time.p50_s)} median, {duration(time.p95_s)} p95, over {time.n} steps{warmup}"
    )


def _prescriptions(prescriptions: Sequence[Prescription]) -> Iterator[RenderableType]:
    for number, prescription in enumerate(prescriptions[:SHOWN_PRESCRIPTIONS], start=1):
        yield Text.assemble(f"{number}. ", (prescription.title, "bold"), f"  {_predicted(prescription)}")
        yield Padding(Text(prescription.how), (0, 0, 0, 3))
        yield Padding(Text(f"rests on: {prescription.basis}", style="dim"), (0, 0, 0, 3))
    rest = len(prescriptions) - SHOWN_PRESCRIPTIONS
    if rest > 0:
        yield Text(f"   and {rest} more, in the dashboard and with --json", style="dim")


def _predicted(prescription: Prescription) -> str:
    predicted = prescription.predicted_speedup
    kind = f"{prescription.equivalence}, {prescription.effort}"
    if predicted is None:
        return f"gain not predicted ({kind})"
    return f"predicted {times(predicted.mid)}, {times(predicted.low)} to {times(predicted.high)} ({kind})"


def _footer(report: Report, folder: Path) -> list[RenderableType]:
    notes = report.recorder.notes
    lines = [f"run: {ending(report.run.status, report.run.exit_code, source=report.run.source)}"]
    if report.run.source in RECORDED:
        lines.append(f"recorder: {_cost(report)}")
    window = window_cost(report.recorder)
    if window is not None:
        lines.append(f"deep window: {window}")
    lines += [f"note: {note}" for note in notes[:SHOWN_NOTES]]
    if len(notes) > SHOWN_NOTES:
        lines.append(f"and {len(notes) - SHOWN_NOTES} more notes, in report.json")
    is_sample = report.run.source == SAMPLE
    opened = f"trainrx samples {folder.name} --ui" if is_sample else "trainrx ui"
    lines.append(f"folder: {folder}   (open it with `{opened}`)")
    return [Text(line, style="dim") for line in lines]


def _cost(report: Report) -> str:
    cost = report.recorder
    if report.estimate is not None:
        return (
            "not in the process; py-spy paused it at each sample, some 1 or 2 % of the time on a busy machine"
        )
    if cost.overhead_share is None or cost.overhead_us_per_step is None:
        return "its own cost was not measured: too few steps"
    return (
        f"cost about {cost.overhead_us_per_step:.0f} µs per step, {percent(cost.overhead_share)} of it, "
        "estimated from what was measured in this run"
    )
