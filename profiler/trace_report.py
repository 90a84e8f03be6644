"""From the summaries of ranks to the report of a run: joins ranks, runs the rules, fills the schema. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .diagnosis.device.observation import DeviceObservation, RankSkew
from .diagnosis.device.verdict import find_all, verdict
from .ingest.column_values import median, quantile
from .ingest.recordings import ExecutionGraph, MemoryRecording, MetricSeries
from .report import (
    NOT_ENOUGH_EVIDENCE,
    CollectiveSkew,
    DeviceShares,
    DeviceStep,
    KernelClass,
    LaunchQueueInfo,
    MatrixUse,
    MemoryCurveInfo,
    RankInfo,
    RankWait,
    RecorderCost,
    Report,
    RunInfo,
    StageShare,
    StepTime,
)
from .timeline.collectives import MatchedCollectives, RankWaiting, match
from .timeline.device import DeviceTimes
from .timeline.kernels import HotKernel, KernelTable
from .timeline.memory import POINTS, MemoryCurve, highest_of_each_stretch
from .timeline.queue import LaunchQueue
from .timeline.rank_summary import RankSummary
from .timeline.steps import outliers
from .vocabulary import IdleCause, Stage

if TYPE_CHECKING:
    from .arrow import Columns

NO_DEVICE = "no device activity was recorded"
NO_STEPS = "the trace marks no steps: call profiler.step() once per training step"

Attachment = MemoryRecording | MetricSeries | ExecutionGraph


def report_of(
    run: RunInfo,
    ranks: Mapping[int, RankSummary],
    attachments: Sequence[Attachment] = (),
    notes: Sequence[str] = (),
) -> Report:
    """The report of a run from its ranks' summaries, of which there is at least one, and other recordings."""
    ordered = dict(sorted(ranks.items()))
    summaries = list(ordered.values())
    matched = match({rank: summary.collectives for rank, summary in ordered.items()})
    seen = combined([summary.observation for summary in summaries], _skew(matched, summaries))
    findings = find_all(seen)
    device = [summary.device_window for summary in summaries if summary.device_window is not None]
    return Report(
        run=run.model_copy(update={"steps_recorded": max(len(summary.steps) for summary in summaries)}),
        verdict=verdict(seen, findings),
        setup=_setup(summaries, attachments),
        step_time=step_time(np.concatenate([summary.step_s for summary in summaries])),
        step_time_reason=None if any(len(summary.steps) for summary in summaries) else NO_STEPS,
        stages=_mean_stages([stage_shares(summary) for summary in summaries]),
        device=_mean_device([device_shares(times, 0) for times in device]) if device else None,
        device_reason=None if device else NO_DEVICE,
        kernel_classes=kernel_classes(
            [summary.kernels for summary in summaries if summary.kernels is not None]
        ),
        device_steps=[step for rank, summary in ordered.items() for step in device_steps(rank, summary)],
        launch_queue=_queue_info([summary.queue for summary in summaries if summary.queue is not None]),
        matrix_use=_matrix_use(seen) if device else None,
        memory=_memory_info(summaries, attachments),
        collectives=_collective_skew(matched),
        findings=findings,
        ranks=[_rank_info(rank, summary, matched) for rank, summary in ordered.items()],
        recorder=RecorderCost(
            notes=[*notes, *_notes(ordered), *(note for one in attachments for note in one.notes)]
        ),
    )


def report_of_attachments(
    run: RunInfo, attachments: Sequence[Attachment], notes: Sequence[str] = ()
) -> Report:
    """The report where there is no timeline at all: what the other recordings tell."""
    told = "; ".join(describe(one) for one in attachments)
    return Report(
        run=run,
        verdict=f"{NOT_ENOUGH_EVIDENCE}: there is no timeline to find a bottleneck in. {told}.",
        setup=_setup([], attachments),
        step_time_reason="there is no timeline",
        device_reason="there is no timeline",
        memory=_memory_info([], attachments),
        recorder=RecorderCost(notes=[*notes, *(note for one in attachments for note in one.notes)]),
    )


def describe(recording: Attachment) -> str:
    """One clause on a recording that is no timeline."""
    if isinstance(recording, MemoryRecording):
        unused = recording.unused_reserved_share
        rest = (
            ""
            if unused is None
            else f"; when the snapshot was taken, {unused * 100:.0f} % of reserved memory was unused"
        )
        return f"Memory peaks at {recording.peak_allocated_bytes / 2**30:.2f} GiB{rest}"
    if isinstance(recording, MetricSeries):
        return f"{recording.rows} rows of metrics"
    return f"An execution graph of {recording.nodes} nodes with {recording.collectives} collectives"


def combined(seen: Sequence[DeviceObservation], skew: RankSkew | None) -> DeviceObservation:
    """One observation of all ranks: means of shares over the ranks with device work, sums of counts and
    bytes.
    """
    active = [one for one in seen if one.device_active] or list(seen)
    first = active[0]
    if len(seen) == 1:
        return first
    return replace(
        first,
        window_s=_mean([one.window_s for one in active]),
        step_s=_mean_known([one.step_s for one in active]),
        compute_share=_mean([one.compute_share for one in active]),
        communication_share=_mean([one.communication_share for one in active]),
        idle_share=_mean([one.idle_share for one in active]),
        idle_causes={
            cause: _mean([one.idle_causes.get(cause, 0.0) for one in active]) for cause in IdleCause
        },
        data_wait_share=_mean_known([one.data_wait_share for one in active]),
        loader=next((one.loader for one in active if one.loader), None),
        kernels=sum(one.kernels for one in active),
        mean_kernel_us=_mean_known([one.mean_kernel_us for one in active]),
        launch_delay_median_us=_mean_known([one.launch_delay_median_us for one in active]),
        queue_depth=_mean_known([one.queue_depth for one in active]),
        kernel_shares=_mean_shares([one.kernel_shares for one in active]),
        layout_share=_mean([one.layout_share for one in active]),
        hottest_kernels=_hottest([one.hottest_kernels for one in active]),
        matrix_unit_share=_mean_known([one.matrix_unit_share for one in active]),
        precision_shares=_mean_shares([one.precision_shares for one in active]),
        communication_busy_share=_mean([one.communication_busy_share for one in active]),
        h2d_exposed_share=_mean([one.h2d_exposed_share for one in active]),
        h2d_bytes=sum(one.h2d_bytes for one in active),
        h2d_s=sum(one.h2d_s for one in active),
        h2d_pageable_share=_mean_known([one.h2d_pageable_share for one in active]),
        sync_calls=sum(one.sync_calls for one in active),
        optimizer_device_share=_mean_known([one.optimizer_device_share for one in active]),
        peak_allocated_bytes=max((one.peak_allocated_bytes or 0 for one in active), default=0) or None,
        peak_reserved_bytes=max((one.peak_reserved_bytes or 0 for one in active), default=0) or None,
        skew=skew,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _mean_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _mean(known) if known else None


def _mean_shares(shares: Sequence[Mapping[str, float]]) -> dict[str, float]:
    told = [one for one in shares if one]
    keys = sorted({key for one in told for key in one})
    return {key: _mean([one.get(key, 0.0) for one in told]) for key in keys}


def _hottest(kernels: Sequence[Mapping[str, HotKernel]]) -> dict[str, HotKernel]:
    """By class, the kernel that takes the largest share of any rank's kernel time."""
    found: dict[str, HotKernel] = {}
    for name, kernel in (item for one in kernels for item in one.items()):
        if name not in found or kernel.share > found[name].share:
            found[name] = kernel
    return found


def _skew(matched: MatchedCollectives | None, summaries: Sequence[RankSummary]) -> RankSkew | None:
    if matched is None:
        return None
    window_ns = _mean([summary.steps.window_ns for summary in summaries])
    late = next((one for one in matched.ranks if one.rank == matched.late_rank), None)
    return RankSkew(
        matched=matched.matched,
        late_rank=matched.late_rank,
        times_last=0 if late is None else late.times_last,
        waiting_share=min(_mean([one.waiting_ns for one in matched.ranks]) / window_ns, 1.0),
        wire_share=min(_mean([one.wire_ns for one in matched.ranks]) / window_ns, 1.0),
        skew_mean_s=matched.skew_mean_ns / 1e9,
    )


def step_time(step_s: npt.NDArray[np.float64]) -> StepTime | None:
    """Step wall time over all steps; None without steps."""
    if not len(step_s):
        return None
    return StepTime(
        p50_s=median(step_s),
        p95_s=quantile(step_s, 0.95),
        mean_s=float(step_s.mean()),
        n=len(step_s),
    )


def stage_shares(summary: RankSummary) -> list[StageShare]:
    """Stages of one rank over its steps, or over the whole window as one where none are known, in the order of the
    vocabulary; those without time are left out.
    """
    steps = summary.steps
    count, times, span_ns = 1, summary.stage_window, steps.window_ns
    if len(steps):
        count, times, span_ns = len(steps), summary.stage_steps, int((steps.end_ns - steps.start_ns).sum())
    return [
        StageShare(name=stage, seconds_per_step=ns / 1e9 / count, share=ns / max(span_ns, 1))
        for stage in Stage
        if (ns := int(times[stage].sum()) if stage in times else 0)
    ]


def _mean_stages(by_rank: Sequence[list[StageShare]]) -> list[StageShare]:
    told = [stages for stages in by_rank if stages]
    present = [stage for stage in Stage if any(one.name is stage for stages in told for one in stages)]
    found = [[one for stages in told for one in stages if one.name is stage] for stage in present]
    return [
        StageShare(
            name=stage,
            seconds_per_step=sum(one.seconds_per_step for one in ones) / len(told),
            share=sum(one.share for one in ones) / len(told),
        )
        for stage, ones in zip(present, found, strict=True)
    ]


def device_shares(times: DeviceTimes, window: int) -> DeviceShares:
    """The device view in one of the windows, as shares that sum to 1."""
    span = max(int(times.window_ns[window]), 1)
    idle = int(times.idle_ns[window]) / span
    return DeviceShares(
        busy_share=1 - idle,
        compute_share=int(times.compute_ns[window]) / span,
        exposed_communication_share=int(times.communication_ns[window]) / span,
        exposed_copy_share=int(times.copy_ns[window]) / span,
        idle_share=idle,
        idle_causes={cause: int(part[window]) / span for cause, part in times.causes_ns.items()},
    )


def _mean_device(shares: Sequence[DeviceShares]) -> DeviceShares:
    return DeviceShares(
        busy_share=_mean([one.busy_share for one in shares]),
        compute_share=_mean([one.compute_share for one in shares]),
        exposed_communication_share=_mean([one.exposed_communication_share for one in shares]),
        exposed_copy_share=_mean([one.exposed_copy_share for one in shares]),
        idle_share=_mean([one.idle_share for one in shares]),
        idle_causes={
            cause: _mean([one.idle_causes.get(cause, 0.0) for one in shares]) for cause in IdleCause
        },
    )


def device_steps(rank: int, summary: RankSummary) -> list[DeviceStep]:
    """The device view of each step of a rank."""
    times = summary.device_steps
    if times is None:
        return []
    return [
        DeviceStep(
            number=int(number),
            seconds=float(summary.step_s[place]),
            device=device_shares(times, place),
            rank=rank,
        )
        for place, number in enumerate(summary.steps.number)
    ]


def step_table(summary: RankSummary) -> Columns | None:
    """The host's steps, columns as in `RunFolder.steps`; None without any, or where the device's are told instead."""
    steps = summary.steps
    if not len(steps) or summary.device_steps is not None:
        return None
    return {
        "step": steps.number,
        "start_s": (steps.start_ns - int(steps.start_ns[0])) / 1e9,
        "duration_s": summary.step_s,
        "phase": np.full(len(steps), "timed"),
        "outlier": outliers(summary.step_s, np.ones(len(steps), dtype=bool)),
        **{stage.value: ns / 1e9 for stage, ns in summary.stage_steps.items()},
    }


def kernel_classes(tables: Sequence[KernelTable]) -> list[KernelClass]:
    """Kernel classes summed over ranks, the one with most time first; empty classes are left out."""
    if not tables:
        return []
    total_ns = sum(table.total_ns for table in tables)
    count = sum(table.count for table in tables)
    all_ns = max(int(np.sum(total_ns)), 1)
    rows = [
        KernelClass(
            name=str(kind), seconds=ns / 1e9, count=n, mean_us=ns / max(n, 1) / 1000, share=ns / all_ns
        )
        for kind, ns, n in zip(
            tables[0].kinds, np.atleast_1d(total_ns).tolist(), np.atleast_1d(count).tolist(), strict=True
        )
        if n
    ]
    return sorted(rows, key=lambda row: -row.seconds)


def _queue_info(queues: Sequence[LaunchQueue]) -> LaunchQueueInfo | None:
    if not queues:
        return None
    return LaunchQueueInfo(
        delay_median_us=_mean([queue.delay_median_us for queue in queues]),
        delay_p90_us=_mean([queue.delay_p90_us for queue in queues]),
        mean_depth=_mean([queue.mean_depth for queue in queues]),
        linked=sum(queue.linked for queue in queues),
    )


def _matrix_use(seen: DeviceObservation) -> MatrixUse:
    return MatrixUse(matrix_unit_share=seen.matrix_unit_share, precision_shares=dict(seen.precision_shares))


def _memory_info(
    summaries: Sequence[RankSummary], attachments: Sequence[Attachment]
) -> MemoryCurveInfo | None:
    curves = [(summary.memory, summary.info.source) for summary in summaries if summary.memory is not None]
    if curves:
        curve, source = max(curves, key=lambda item: item[0].peak_allocated_bytes)
        return _curve_info(curve, source)
    recordings = [one for one in attachments if isinstance(one, MemoryRecording)]
    return _recording_info(max(recordings, key=lambda one: one.peak_allocated_bytes)) if recordings else None


def _curve_info(curve: MemoryCurve, source: str) -> MemoryCurveInfo:
    return MemoryCurveInfo(
        peak_allocated_bytes=curve.peak_allocated_bytes,
        peak_reserved_bytes=curve.peak_reserved_bytes,
        relative=curve.relative,
        source=source,
        time_s=curve.time_s.tolist(),
        allocated_bytes=curve.allocated_bytes.tolist(),
    )


def _recording_info(recording: MemoryRecording) -> MemoryCurveInfo:
    kept = highest_of_each_stretch(recording.allocated_bytes, POINTS)
    return MemoryCurveInfo(
        peak_allocated_bytes=recording.peak_allocated_bytes,
        peak_reserved_bytes=recording.reserved_bytes,
        source=recording.source,
        time_s=recording.time_s[kept].tolist(),
        allocated_bytes=recording.allocated_bytes[kept].tolist(),
    )


def _collective_skew(matched: MatchedCollectives | None) -> CollectiveSkew | None:
    if matched is None:
        return None
    return CollectiveSkew(
        matched=matched.matched,
        unmatched=matched.unmatched,
        skew_mean_s=matched.skew_mean_ns / 1e9,
        skew_max_s=matched.skew_max_ns / 1e9,
        late_rank=matched.late_rank,
    )


def _rank_info(rank: int, summary: RankSummary, matched: MatchedCollectives | None) -> RankInfo:
    waiting = next((one for one in matched.ranks if one.rank == rank), None) if matched is not None else None
    window = summary.device_window
    return RankInfo(
        rank=rank,
        steps=len(summary.steps),
        step_time=step_time(summary.step_s),
        stages=stage_shares(summary),
        device=None if window is None else device_shares(window, 0),
        note="; ".join(summary.info.notes) or None,
        source=summary.info.source,
        window_s=summary.steps.window_ns / 1e9,
        collectives=None if waiting is None else _rank_wait(waiting, summary.steps.window_ns),
    )


def _rank_wait(waiting: RankWaiting, window_ns: int) -> RankWait:
    return RankWait(
        waiting_s=waiting.waiting_ns / 1e9,
        waiting_share=waiting.waiting_ns / max(window_ns, 1),
        wire_s=waiting.wire_ns / 1e9,
        wire_share=waiting.wire_ns / max(window_ns, 1),
        times_last=waiting.times_last,
        delay_caused_s=waiting.delay_caused_ns / 1e9,
    )


def _notes(ranks: Mapping[int, RankSummary]) -> list[str]:
    return [f"rank {rank}: {note}" for rank, summary in ranks.items() for note in summary.info.notes]


def _device_kind(summary: RankSummary) -> str | None:
    """The word that the catalog's conditions use; None where the trace tells of no device."""
    if not summary.observation.device_active:
        return None
    return "rocm" if (summary.info.vendor or "").lower() in ("amd", "rocm") else "cuda"


def _setup(summaries: Sequence[RankSummary], attachments: Sequence[Attachment]) -> dict[str, object]:
    setup: dict[str, object] = {}
    if summaries:
        info = summaries[0].info
        told = {
            "world_size": info.world_size,
            "backend": info.backend,
            "collective_library": info.collective_library,
            "device.kind": _device_kind(summaries[0]),
            "device.name": info.devices[0].name if info.devices else None,
            "devices_in_host": len(info.devices) or None,
            "loader": summaries[0].observation.loader,
            "loader.num_workers": 0 if summaries[0].observation.loader == "single-process" else None,
            "steps_marked": summaries[0].steps.marked,
            "model.compiled": True if summaries[0].compiled else None,
            **info.versions,
        }
        setup |= {key: value for key, value in told.items() if value is not None}
    metrics = [metric for one in attachments if isinstance(one, MetricSeries) for metric in one.metrics]
    if metrics:
        setup["metrics"] = [
            {
                "name": one.name,
                "device": one.device,
                "mean": one.mean,
                "min": one.smallest,
                "max": one.largest,
            }
            for one in metrics[:256]
        ]
    graphs = [one for one in attachments if isinstance(one, ExecutionGraph)]
    if graphs:
        setup["execution_graph"] = {
            "schema": graphs[0].schema,
            "nodes": graphs[0].nodes,
            "collectives": graphs[0].collectives,
        }
    return setup
