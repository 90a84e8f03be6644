"""What a run's report contains, in which order: words and numbers come from the views, charts from the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

from ..figures import (
    device_bar,
    device_steps,
    estimate_bars,
    gains,
    host_lines,
    kernel_classes,
    loader_costs,
    memory_curve,
    rank_matrix,
    series_lines,
    stage_bar,
    steps_over_time,
    what_ifs,
)
from ..stored import StoredRun
from ..views import headings
from ..views.advice import AdviceView, CellMatrix, advice_view
from ..views.crossings import CrossingsView
from ..views.details import Details, details
from ..views.device import DeviceSteps, DeviceView
from ..views.device_stages import DeviceStagesView
from ..views.diagnosis import DiagnosisView, SetupGroup, diagnosis_view
from ..views.estimate import EstimateView
from ..views.loader import LoaderView
from ..views.memory import MemoryView
from ..views.memory_use import MemoryUseView
from ..views.steps import StepSeries, step_series
from ..views.tables import (
    cell_rows,
    crossing_rows,
    kernel_rows,
    line_rows,
    memory_fact_rows,
    memory_use_rows,
    native_rows,
    rank_rows,
)
from ..views.telemetry import TelemetryView
from ..views.trials import trial_table
from ..views.what_ifs import WhatIfView
from .blocks import (
    Block,
    Chart,
    Contents,
    Findings,
    KeyFigures,
    Prescriptions,
    Row,
    Section,
    Sentences,
    Settings,
    Stages,
    Table,
)

#: Charts of single ranks' steps beyond these would bury what matters.
MAX_STEP_CHARTS = 4
#: A file for people ends somewhere; report.json has all.
MAX_ROWS = 200


def contents(run: StoredRun) -> Contents:
    """Everything that is known of an opened run, ready to be written."""
    report = run.report
    view = diagnosis_view(report, run.manifest, warnings=run.notes)
    parts = details(report)
    advice = advice_view(report)
    sections = (
        *_what_happened(view, parts),
        *_what_to_do(advice, trial_table(report.trials)),
        *_in_detail(view, parts, step_series(run.steps) if run.steps is not None else None),
        *_where_else(advice),
        *_setup(view),
    )
    return Contents(view, parts.first_advice, sections, f"trainrx {version('trainrx')}")


def _what_happened(view: DiagnosisView, parts: Details) -> Iterator[Section]:
    if parts.estimate is not None:
        yield _estimate(parts.estimate)
    elif view.timed:
        yield _stages(view, parts.compute)
    else:
        yield Section("stages", headings.STAGES, view.stages_caption, (KeyFigures(view.figures),))
    if view.timed or view.findings:
        caption = "" if view.findings else headings.NO_FINDINGS
        yield Section("findings", headings.FINDINGS, caption, _some(Findings(view.findings), view.findings))


def _what_to_do(advice: AdviceView, trials: Sequence[Row]) -> Iterator[Section]:
    yield _advice(advice)
    if advice.can_try or trials:
        yield Section(
            "trials", headings.TRIALS, "" if trials else headings.NO_TRIALS, tuple(_table("", trials))
        )


def _in_detail(view: DiagnosisView, parts: Details, series: StepSeries | None) -> Iterator[Section]:
    """What only some runs have."""
    if parts.device_stages is not None:
        yield _device_stages(parts.device_stages)
    if parts.device is not None:
        yield _device(parts.device)
    if series is not None:
        chart = Chart(steps_over_time.alt(series), lambda dark: steps_over_time.steps_over_time(series))
        yield Section("steps", headings.STEPS, series.caption, (chart,), aside=True)
    if parts.what_ifs is not None:
        yield _what_ifs(parts.what_ifs)
    if view.timed:
        yield _lines(view)
    if parts.native is not None:
        table = tuple(_table("", native_rows(parts.native.rows)))
        yield Section("native", headings.NATIVE, parts.native.caption, table, aside=True)
    if parts.loader is not None:
        yield _loader(parts.loader)
    if parts.crossings is not None:
        yield _crossings(parts.crossings)
    if view.ranks:
        yield _ranks(view, parts)
    if parts.memory is not None:
        yield _memory(parts.memory)
    if parts.memory_use is not None:
        yield _memory_use(parts.memory_use)
    if parts.telemetry is not None:
        yield _telemetry(parts.telemetry)


def _stages(view: DiagnosisView, rate: str | None) -> Section:
    ordered = tuple(sorted(view.stages, key=lambda stage: -stage.share))
    blocks = (
        KeyFigures(view.figures),
        Chart(stage_bar.alt(view.stages), lambda dark: stage_bar.stage_bar(view.stages)),
        Stages(ordered),
        *_some(Sentences((rate or "",)), rate),
    )
    return Section("stages", headings.STAGES, view.stages_caption, blocks)


def _estimate(view: EstimateView) -> Section:
    blocks = (
        Chart(estimate_bars.alt(view.shares), lambda dark: estimate_bars.estimate_bars(view.shares)),
        *_table("", [{"stage": one.stage.label, "share": one.text} for one in view.shares]),
        *_table(headings.ESTIMATED_LINES, view.lines),
        *_table(headings.ESTIMATED_WORKERS, view.workers),
    )
    return Section("estimate", headings.ESTIMATE, view.caption, blocks)


def _advice(view: AdviceView) -> Section:
    if view.nothing:
        return Section("advice", headings.ADVICE, view.nothing, ())
    predicted = [one.gain for one in view.prescriptions if one.gain is not None]
    blocks = (
        *_some(Chart(gains.alt(predicted), lambda dark: gains.gains(predicted)), predicted),
        Prescriptions(view.prescriptions, view.id if view.can_try else None),
    )
    return Section("advice", headings.ADVICE, headings.ADVICE_CAPTION, blocks)


def _device_stages(view: DeviceStagesView) -> Section:
    ordered = tuple(sorted(view.stages, key=lambda stage: -stage.share))
    chart = Chart(stage_bar.alt(view.stages), lambda dark: stage_bar.stage_bar(view.stages))
    return Section(
        "device-stages", headings.DEVICE_STAGES, view.caption, (chart, Stages(ordered)), aside=True
    )


def _device(view: DeviceView) -> Section:
    bar, kernels = view.bar, view.kernels
    blocks: list[Block] = []
    if bar is not None:
        blocks.append(
            Chart(device_bar.alt(bar), lambda dark: device_bar.device_bar(bar, dark=dark), themed=True)
        )
    if kernels:
        words = kernel_classes.alt(kernels)
        blocks.append(Chart(words, lambda dark: kernel_classes.kernel_classes(kernels), headings.KERNELS))
        blocks += _table("", kernel_rows(kernels), folded=True)
    blocks += _some(Sentences(view.notes), view.notes)
    blocks += [_device_steps(steps) for steps in view.steps[:MAX_STEP_CHARTS]]
    return Section("device", headings.DEVICE, view.caption if bar else view.bar_reason, tuple(blocks))


def _device_steps(steps: DeviceSteps) -> Chart:
    title = f"{headings.DEVICE_STEPS}, rank {steps.rank}"
    return Chart(device_steps.alt(steps), lambda dark: device_steps.device_steps(steps), title)


def _what_ifs(view: WhatIfView) -> Section:
    chart = Chart(what_ifs.alt(view), lambda dark: what_ifs.what_ifs(view))
    rows = [
        {"with": row.change, "predicted step": row.predicted, "speed-up": row.speedup, "bound": row.bound}
        for row in view.rows
    ]
    blocks = (*_some(chart, view.rows), *_table("", rows), *_some(Sentences((view.rest,)), view.rest))
    return Section("what-ifs", headings.WHAT_IFS, view.caption, blocks, aside=True)


def _lines(view: DiagnosisView) -> Section:
    if not view.lines:
        return Section("lines", headings.LINES, headings.NO_LINES, (), aside=True)
    blocks = (
        Chart(host_lines.alt(view.lines), lambda dark: host_lines.host_lines(view.lines)),
        *_table(headings.ALL_LINES, line_rows(view.lines), folded=True),
    )
    return Section("lines", headings.LINES, headings.LINES_CAPTION, blocks, aside=True)


def _loader(view: LoaderView) -> Section:
    blocks = (
        KeyFigures(view.figures),
        Chart(loader_costs.alt(view.costs), lambda dark: loader_costs.loader_costs(view.costs)),
        *_table("", [_cost_row(row.name, row.place, row.cpu, row.wait) for row in view.costs]),
        *_table(headings.LOADER_WORKERS, view.workers),
        *_table(headings.LOADER_LINES, view.lines),
    )
    return Section("loader", headings.LOADER, view.caption, blocks, aside=True)


def _cost_row(name: str, place: str, computing: str, waiting: str) -> Row:
    return {"per sample": name, "where": place, "computing": computing, "waiting": waiting}


def _crossings(view: CrossingsView) -> Section:
    table = tuple(_table("", crossing_rows(view.rows)))
    return Section("crossings", headings.CROSSINGS, view.caption, table, aside=True)


def _ranks(view: DiagnosisView, parts: Details) -> Section:
    matrix = parts.ranks
    blocks: list[Block] = []
    if matrix is not None:
        blocks.append(Sentences((matrix.sentence,)))
        blocks.append(
            Chart(
                rank_matrix.alt(matrix), lambda dark: rank_matrix.rank_matrix(matrix, dark=dark), themed=True
            )
        )
    blocks += _table("", rank_rows(view.ranks))
    if matrix is not None:
        blocks += _some(Sentences((matrix.clocks_sentence,)), matrix.clocks)
        blocks += _table(headings.COLLECTIVES, matrix.uses)
        blocks += _table(headings.RANK_WAITS, matrix.waits)
    return Section("ranks", headings.RANKS, matrix.caption if matrix is not None else "", tuple(blocks))


def _memory(view: MemoryView) -> Section:
    chart = Chart(memory_curve.alt(view), lambda dark: memory_curve.memory_curve(view))
    return Section("memory", headings.MEMORY, view.caption, _some(chart, view.time_s), aside=True)


def _memory_use(view: MemoryUseView) -> Section:
    blocks = (*_table("", memory_use_rows(view)), *_table("", memory_fact_rows(view)))
    return Section("memory-use", view.title, view.caption, blocks, aside=True)


def _telemetry(view: TelemetryView) -> Section:
    chart = Chart(series_lines.alt(view.series), lambda dark: series_lines.series_lines(view.series))
    host = SetupGroup(headings.HOST, view.host or (("host", view.host_reason),))
    devices = (
        _table(headings.DEVICES, view.devices)
        if view.devices
        else [Sentences((f"{headings.DEVICES}: {view.devices_reason}",))]
    )
    blocks = (*_some(chart, view.series), Settings((host,)), *devices)
    return Section("telemetry", headings.TELEMETRY, view.caption, blocks, aside=True)


def _where_else(advice: AdviceView) -> Iterator[Section]:
    if advice.cells:
        cells = [block for matrix in advice.cells for block in _cells(matrix)]
        yield Section("cells", headings.CELLS, "", tuple(cells), aside=True)
    if advice.ruled_out:
        blocks = _table("", advice.ruled_out, folded=True)
        yield Section("ruled-out", headings.RULED_OUT, headings.RULED_OUT_CAPTION, tuple(blocks), aside=True)


def _cells(matrix: CellMatrix) -> Iterator[Block]:
    yield from _table(matrix.finding, cell_rows(matrix))
    yield from _some(Sentences((matrix.left,)), matrix.left)


def _setup(view: DiagnosisView) -> Iterator[Section]:
    if view.setup:
        yield Section("setup", headings.SETUP, "", (Settings(view.setup),), aside=True)
    if view.notes:
        yield Section("notes", headings.NOTES, "", (Sentences(view.notes),))


def _table(title: str, rows: Sequence[Row], *, folded: bool = False) -> list[Block]:
    if not rows:
        return []
    told = [column for column in rows[0] if any(row[column] for row in rows)]
    rows = [{column: row[column] for column in told} for row in rows]
    return [Table(title, tuple(rows[:MAX_ROWS]), folded, max(len(rows) - MAX_ROWS, 0))]


def _some(block: Block, shown: Iterable[object] | str | None) -> tuple[Block, ...]:
    return (block,) if shown else ()
