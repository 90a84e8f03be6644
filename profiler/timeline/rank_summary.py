"""From one trace file to the summary of its rank: a pure function that a pool of processes can run.

A summary is small, whatever the size of its trace, so that a thousand of them fit where one trace does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..diagnosis.device.observation import DeviceObservation
from ..ingest.column_values import median
from ..ingest.columns import ABSENT, NSIGHT, DeviceKind, HostKind, Trace, TraceInfo
from ..ingest.source import Progress, no_progress
from ..vocabulary import Stage
from .collectives import CollectiveTimes, collective_times
from .device import DeviceTimes, DeviceView, copies_to_device, device_view, has_device_activity, times_within
from .idle import LOADER_PREFIX, launch_of_device_rows, sync_calls
from .intervals import I64, Intervals, contains, one, union
from .kernel_origin import refined
from .kernels import KINDS, KernelKind, KernelTable, device_kinds, kernel_table
from .memory import MemoryCurve, memory_curve
from .queue import LaunchQueue, launch_queue
from .trace_stages import stage_sets, stage_times
from .trace_steps import TraceSteps, find_steps

#: What ``torch.compile`` names its kernels and the regions that call them.
COMPILED_PREFIXES = (
    "triton_poi_fused",
    "triton_red_fused",
    "triton_per_fused",
    "triton_tem_fused",
    "Torch-Compiled",
)


@dataclass(frozen=True)
class RankSummary:
    """One rank. ``device_*``, ``kernels`` are None where no device work was recorded; ``stage_*`` is empty
    where no stages can be told. ``device_window`` and ``stage_window`` have one window; the others one per
    step. ``compiled``: kernels or regions of ``torch.compile`` were seen.
    """

    info: TraceInfo
    steps: TraceSteps
    step_s: npt.NDArray[np.float64]
    device_steps: DeviceTimes | None
    device_window: DeviceTimes | None
    stage_steps: dict[Stage, I64]
    stage_window: dict[Stage, I64]
    kernels: KernelTable | None
    queue: LaunchQueue | None
    memory: MemoryCurve | None
    collectives: CollectiveTimes
    observation: DeviceObservation
    compiled: bool


def summarise_file(path: Path, *, progress: Progress = no_progress) -> RankSummary:
    """Read a timeline and summarise it.

    Raises:
        InputError: the file cannot be read or is no timeline.
    """
    from ..ingest.sniff import open_timeline

    return summarise(open_timeline(path, progress=progress))


def summarise(trace: Trace) -> RankSummary:
    """The summary of a trace."""
    steps = _steps(trace)
    kinds = device_kinds(trace)
    stages = stage_sets(trace, steps)
    active = has_device_activity(trace)
    view = device_view(trace, kinds) if active else None
    summary = RankSummary(
        info=trace.info,
        steps=steps,
        step_s=(steps.end_ns - steps.start_ns) / 1e9,
        device_steps=None if view is None else times_within(view, steps.start_ns, steps.end_ns),
        device_window=None if view is None else times_within(view, steps.window.start, steps.window.end),
        stage_steps=stage_times(stages, steps.start_ns, steps.end_ns),
        stage_window=stage_times(stages, steps.window.start, steps.window.end),
        kernels=None if view is None else kernel_table(trace, refined(trace, kinds), steps.window),
        queue=launch_queue(trace, steps.window),
        memory=memory_curve(trace.memory),
        collectives=collective_times(trace, kinds),
        observation=_without_device(trace, steps, stages),
        compiled=any(name.startswith(COMPILED_PREFIXES) for name in trace.names),
    )
    return (
        summary
        if view is None
        else replace(summary, observation=_with_device(trace, kinds, view, stages, summary))
    )


def _steps(trace: Trace) -> TraceSteps:
    """Steps; without them an Nsight recording counts from its first device row: it sees the start-up too."""
    steps = find_steps(trace)
    rows = trace.device_rows(DeviceKind.KERNEL, DeviceKind.MEMCPY, DeviceKind.MEMSET)
    if steps.marked or trace.info.format != NSIGHT or not len(rows):
        return steps
    window = one(int(trace.device.start_ns[rows].min()), int(trace.device.end_ns[rows].max()))
    return replace(steps, window=window) if len(window) else steps


def _without_device(trace: Trace, steps: TraceSteps, stages: dict[Stage, Intervals]) -> DeviceObservation:
    wait = stages.get(Stage.DATA_WAIT)
    models = [model for model in trace.info.devices if model.total_memory_bytes]
    return DeviceObservation(
        window_s=steps.window_ns / 1e9,
        step_s=median(steps.end_ns - steps.start_ns) / 1e9 if len(steps) else None,
        device_active=False,
        host_active=bool(
            len(trace.host_rows(HostKind.OP, HostKind.ANNOTATION, HostKind.RUNTIME, HostKind.DRIVER))
        )
        and _has_more_than_calls(trace),
        data_wait_share=None if wait is None else wait.total_ns / max(steps.window_ns, 1),
        loader=_loader(trace),
        device_memory_bytes=models[0].total_memory_bytes if models else None,
    )


def _has_more_than_calls(trace: Trace) -> bool:
    """Operators or ranges, or calls that launch device work: bare runtime calls tell nothing."""
    return bool(len(trace.host_rows(HostKind.OP, HostKind.ANNOTATION))) or bool(len(trace.device))


def _loader(trace: Trace) -> str | None:
    loaders = [name for name in trace.names if name.startswith(LOADER_PREFIX)]
    if any("SingleProcess" in name for name in loaders):
        return "single-process"
    return "multi-process" if any("MultiProcess" in name for name in loaders) else None


def _with_device(
    trace: Trace,
    kinds: npt.NDArray[np.int64],
    view: DeviceView,
    stages: dict[Stage, Intervals],
    summary: RankSummary,
) -> DeviceObservation:
    times, table, window = summary.device_window, summary.kernels, summary.steps.window
    assert times is not None and table is not None
    span = max(int(times.window_ns[0]), 1)
    work = _work_rows(trace, kinds, window)
    copies = _to_device(trace, window)
    memory = summary.memory
    return replace(
        summary.observation,
        device_active=bool(
            view.compute.total_ns + view.communication_busy.total_ns + view.copy_busy.total_ns
        ),
        compute_share=int(times.compute_ns[0]) / span,
        communication_share=int(times.communication_ns[0]) / span,
        idle_share=int(times.idle_ns[0]) / span,
        idle_causes={cause: int(part[0]) / span for cause, part in times.causes_ns.items()},
        kernels=len(work),
        mean_kernel_us=_mean_us(trace, work),
        launch_delay_median_us=None if summary.queue is None else summary.queue.delay_median_us,
        queue_depth=None if summary.queue is None else summary.queue.mean_depth,
        kernel_shares={str(kind): table.share(kind) for kind in table.kinds},
        layout_share=table.layout_share,
        hottest_kernels={str(kind): kernel for kind, kernel in table.hottest.items()},
        matrix_unit_share=table.matrix_ns / table.matrix_capable_ns if table.matrix_capable_ns else None,
        precision_shares=_precision_shares(table),
        communication_busy_share=(view.communication_busy & window).total_ns / span,
        h2d_exposed_share=(_covering(trace, copies) & view.copy & window).total_ns / span,
        h2d_bytes=int(np.maximum(trace.device.bytes[copies], 0).sum()),
        h2d_s=(_covering(trace, copies) & window).total_ns / 1e9,
        h2d_pageable_share=_pageable_share(trace, copies),
        sync_calls=_count_within(trace, sync_calls(trace), window),
        optimizer_device_share=_optimizer_share(trace, stages, window),
        peak_allocated_bytes=None if memory is None or memory.relative else memory.peak_allocated_bytes,
        peak_reserved_bytes=None if memory is None else memory.peak_reserved_bytes,
    )


def _work_rows(trace: Trace, kinds: npt.NDArray[np.int64], window: Intervals) -> npt.NDArray[np.intp]:
    computing = (trace.device.kind == DeviceKind.KERNEL) & (kinds != KINDS.index(KernelKind.COMMUNICATION))
    return np.flatnonzero(computing & contains(window, trace.device.start_ns))


def _mean_us(trace: Trace, rows: npt.NDArray[np.intp]) -> float | None:
    return (
        float((trace.device.end_ns[rows] - trace.device.start_ns[rows]).mean()) / 1000 if len(rows) else None
    )


def _covering(trace: Trace, rows: npt.NDArray[np.intp]) -> Intervals:
    return union(trace.device.start_ns[rows], trace.device.end_ns[rows])


def _to_device(trace: Trace, window: Intervals) -> npt.NDArray[np.intp]:
    rows = copies_to_device(trace)
    return rows[contains(window, trace.device.start_ns[rows])]


def _pageable_share(trace: Trace, copies: npt.NDArray[np.intp]) -> float | None:
    """Share of copied bytes that came from pageable memory; None where names or sizes do not say."""
    sizes = np.maximum(trace.device.bytes[copies], 0)
    told = np.array(["Pageable" in name or "Pinned" in name for name in trace.names], dtype=np.bool_)
    pageable = np.array(["Pageable" in name for name in trace.names], dtype=np.bool_)
    known = sizes[trace.names_where(told, trace.device.name[copies])].sum()
    if not known:
        return None
    return float(sizes[trace.names_where(pageable, trace.device.name[copies])].sum() / known)


def _precision_shares(table: KernelTable) -> dict[str, float]:
    known = sum(table.precision_ns.values())
    return {name: ns / known for name, ns in sorted(table.precision_ns.items())} if known else {}


def _count_within(trace: Trace, rows: npt.NDArray[np.intp], window: Intervals) -> int:
    return int(contains(window, trace.host.start_ns[rows]).sum())


def _optimizer_share(trace: Trace, stages: dict[Stage, Intervals], window: Intervals) -> float | None:
    """Share of the window with kernels launched in the optimizer's ranges; None where launches are not
    linked.
    """
    optimizer = stages.get(Stage.OPTIMIZER)
    launched = launch_of_device_rows(trace)
    if optimizer is None or not len(optimizer) or not (launched >= 0).any():
        return None
    rows = np.flatnonzero(
        contains(optimizer, launched) & (launched != ABSENT) & (trace.device.kind <= DeviceKind.MEMSET)
    )
    return (_covering(trace, rows) & window).total_ns / max(window.total_ns, 1)
