"""From a run folder to its report: reads what the agent wrote, lays it out, diagnoses it. Changes no recorded file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .agent import format as layout
from .agent.rolling import MINUTE_NS
from .compute import MACHINE, compute
from .core_wait import core_wait_share
from .deep_window import device_of, read_deep_window, with_device
from .diagnosis import diagnose
from .diagnosis.host_sync import placed
from .exposure import exposure, is_on_gpu
from .facts import printable, whole
from .native_stacks import native_note, read_native_stacks
from .observation import Observation
from .recorder_cost import recorder_cost
from .recording import RankRecording, read_ranks
from .report import HostLine, LoaderReport, RankInfo, RecorderCost, Report, RunInfo, Telemetry
from .setup_facts import setup_facts, training_loader
from .store import Manifest, RunFolder
from .timeline.clocks import RankClock, rank_clocks
from .timeline.compiled import compiled_model
from .timeline.crossings import with_copies
from .timeline.endings import RankEnd, ending_note, ending_of, loss_sentence, lost_ranks, rank_ends
from .timeline.evaluation import gradient_share
from .timeline.exchanges import collective_uses
from .timeline.host import host_lines
from .timeline.interruptions import garbage_pauses, recomputation_s
from .timeline.lateness import Lateness, lateness
from .timeline.loader import loader_report, why_no_loader
from .timeline.memory_use import device_memory, memory_curve, memory_use
from .timeline.minutes import minutes_of, summarised_steps
from .timeline.own_collectives import own_collectives
from .timeline.process_memory import process_memory
from .timeline.rank_summary import RankSummary
from .timeline.stages import STAGES, StageTimes, stage_times
from .timeline.steps import Steps, find_steps
from .timeline.telemetry import read_telemetry
from .timeline.worker_memory import WorkerMemory, worker_memory
from .trace_report import kernel_classes
from .unrecorded import why_no_step
from .verdict import verdict
from .vocabulary import RunStatus

if TYPE_CHECKING:
    from .arrow import Columns

DEFAULT_WARMUP = 5
LONG_RUN = (
    "A long run: its numbers are of its beginning and its latest stretch; "
    "of the time between a summary was kept."
)


@dataclass(frozen=True, eq=False)
class Analysis:
    """A report and the step table it rests on."""

    report: Report
    steps: Columns


@dataclass(frozen=True, eq=False)
class _Losses:
    """The clocks of the ranks, how each ended, and which of them took the others along."""

    clocks: dict[int, RankClock]
    ends: dict[int, RankEnd]
    lost: list[int]
    origin_ns: float

    @property
    def sentence(self) -> str:
        endings = {rank: ending_of(end, self.origin_ns) for rank, end in self.ends.items()}
        return loss_sentence(self.lost, endings)


@dataclass(frozen=True, eq=False)
class _RankAnalysis:
    recording: RankRecording
    steps: Steps
    stages: StageTimes
    lines: tuple[HostLine, ...]
    setup: dict[str, Any]

    @cached_property
    def loader(self) -> int | None:
        """Number of the loader that is trained on; None where no ``DataLoader`` was used."""
        settings = training_loader(self.recording)
        return None if settings is None else settings["number"]


def analyse(run: RunFolder) -> Analysis:
    """Analyse what a run has recorded so far.

    Raises:
        InputError: ``run.json`` is missing, damaged or too new.
    """
    manifest = run.manifest
    warmup = (
        max(whole(manifest.options, "warmup") or 0, 0) if "warmup" in manifest.options else DEFAULT_WARMUP
    )
    ranks = [_analyse_rank(recording, warmup) for recording in read_ranks(run.path)]
    losses = _losses(manifest, [rank.recording for rank in ranks])
    first = ranks[0] if ranks else None
    if first is None or first.steps.timed_s <= 0:
        return _without_steps(run, manifest, ranks, losses)
    step_time = first.steps.step_time()
    assert step_time is not None
    loader = _loader(first)
    telemetry = _telemetry(run, first)
    exposed = exposure(first.recording, first.steps, first.stages, first.setup, first.lines)
    memory = process_memory(first.recording, first.steps)
    on_device = device_memory(first.recording, first.steps, used_bytes=_used_on_device(telemetry))
    use = memory_use(first.recording, memory, on_device, first.setup)
    job = [rank for rank in ranks if _is_of_job(rank.recording)]
    late = lateness(
        [(rank.recording.rank, rank.steps, rank.stages) for rank in job],
        [core_wait_share(rank.recording) for rank in job],
    )
    findings = diagnose(
        Observation(
            setup=first.setup,
            step_time=step_time,
            stages=exposed.stages,
            lines=exposed.lines,
            loader=loader,
            lateness=late,
            exchanges_per_step=_per_step(first, layout.GRADIENTS_READY, synchronised=True),
            core_wait_share=core_wait_share(first.recording),
            collectives=own_collectives(first.recording, first.steps),
            garbage=exposed.garbage,
            garbage_by_rank=_garbage_by_rank(job),
            compilation=exposed.compilation,
            compiled=compiled_model(first.recording),
            operations_per_step=_operations_per_step(first),
            backwards_per_step=_per_step(first, layout.BACKWARD),
            recomputation_s=recomputation_s(first.recording, first.steps),
            evaluation_gradient_share=gradient_share(first.recording),
            memory=memory,
            device_memory=on_device,
            memory_use=use,
            worker_memory=_worker_memory(first),
            telemetry=telemetry,
            crossings=exposed.crossings,
            device_wait_s=None if exposed.device is None else exposed.device.waits_s,
            device_steps=None if exposed.device is None else exposed.device.steps,
        )
    )
    window, window_note = read_deep_window(first.recording)
    device = device_of(window)
    if window is not None and device is not None:
        findings = with_device(findings, window, device.idle_share, is_clocked=exposed.device is not None)
        findings = [placed(finding, exposed.crossings) for finding in findings]
    native, no_native = read_native_stacks(run.path, first.recording.process)
    report = Report(
        run=_run_info(manifest, first.steps, summarised_steps(first.recording, first.steps.start_ns)),
        verdict=verdict(findings, step_time, loss=losses.sentence),
        setup=first.setup,
        step_time=step_time,
        batches_per_step=float(first.steps.fetches[first.steps.timed].mean()),
        process_cpu_s_per_step=_process_cpu_s(first),
        recomputation_s_per_step=recomputation_s(first.recording, first.steps),
        core_wait_share=core_wait_share(first.recording),
        stages=first.stages.shares(first.steps.timed),
        crossings=list(exposed.crossings),
        device_stages=exposed.device,
        device_stages_reason=exposed.reason,
        minutes=minutes_of(first.recording, int(first.steps.start_ns[0])),
        host_lines=list(first.lines),
        native_stacks=native,
        native_stacks_reason=no_native,
        loader=loader,
        loader_reason=None if loader is not None else _why_no_loader(first),
        device=device,
        device_reason=None if device is not None else _device_reason(first.setup, window),
        kernel_classes=kernel_classes(
            [window.kernels] if window is not None and window.kernels is not None else []
        ),
        memory=memory_curve(first.recording, first.steps),
        memory_use=use,
        collective_uses=collective_uses(first.recording, first.steps),
        compute=compute(first.recording, step_time, first.setup, recorded_on=manifest.versions.get(MACHINE)),
        telemetry=telemetry,
        telemetry_reason=None if telemetry is not None else "the launcher sampled nothing in this run",
        findings=findings,
        ranks=[_rank_info(rank, losses, late) for rank in ranks],
        lost_ranks=losses.lost,
        recorder=_cost(manifest, first, window_note, native_note(no_native)),
    )
    return Analysis(report, step_table(first.steps, first.stages))


def step_table(steps: Steps, stages: StageTimes) -> Columns:
    """One row per step; columns as in `RunFolder.steps`."""
    phase = np.select([steps.traced, steps.warmup], ["traced", "warmup"], default="timed")
    origin = int(steps.start_ns[0]) if len(steps) else 0
    return {
        "step": np.arange(len(steps)),
        "start_s": (steps.start_ns - origin) / 1e9,
        "duration_s": steps.duration_s,
        "fetches": steps.fetches,
        "phase": phase.astype(str),
        "outlier": steps.outlier,
        **{stage.value: stages.seconds[:, number] for number, stage in enumerate(STAGES)},
    }


def _analyse_rank(recording: RankRecording, warmup: int) -> _RankAnalysis:
    steps = find_steps(recording, warmup=warmup)
    setup = setup_facts(recording)
    stages = stage_times(recording, steps)
    if is_on_gpu(setup):
        stages = with_copies(recording, steps, stages)
    return _RankAnalysis(
        recording=recording,
        steps=steps,
        stages=stages,
        lines=tuple(host_lines(recording, steps, stages)),
        setup=setup,
    )


def _process_cpu_s(rank: _RankAnalysis) -> float | None:
    """CPU seconds of the training process per timed step; None where fewer than two steps were timed in a row."""
    marks = rank.recording.of_code(layout.PROCESS_CPU)
    timed = _last_stretch(rank.steps, np.flatnonzero(rank.steps.timed))
    if len(timed) < 2 or not len(marks):
        return None
    ends = rank.steps.end_ns[timed]
    used = np.interp(ends[[0, -1]], marks[:, 1], marks[:, 3])
    return float(used[1] - used[0]) / 1e9 / (timed[-1] - timed[0])


def _telemetry(run: RunFolder, rank: _RankAnalysis) -> Telemetry | None:
    timed = rank.steps.timed
    bounds = int(rank.steps.start_ns[timed][0]), int(rank.steps.end_ns[timed][-1])
    return read_telemetry(run.path, timed_ns=bounds, cores=whole(rank.recording.process, "cores"))


def _used_on_device(telemetry: Telemetry | None) -> int | None:
    """What is used at most on the one device that the run was seen on; None where that is not clear."""
    devices = [] if telemetry is None else [device for device in telemetry.devices if device.is_matched]
    return devices[0].memory_peak_bytes if len(devices) == 1 else None


def _last_stretch(steps: Steps, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """The chosen steps after the last long gap, which a long run has where only a summary was kept."""
    gaps = steps.start_ns[1:] - steps.end_ns[:-1] > MINUTE_NS
    after = int(np.flatnonzero(gaps)[-1]) + 1 if gaps.any() else 0
    return chosen[chosen >= after]


def _loader(rank: _RankAnalysis) -> LoaderReport | None:
    report = None if rank.loader is None else loader_report(rank.recording, rank.loader, rank.steps)
    if report is None or report.num_workers:
        return report
    # a training process that loads by itself waits for cores as its thread does
    return report.model_copy(update={"core_wait_share": core_wait_share(rank.recording)})


def _why_no_loader(rank: _RankAnalysis) -> str:
    return why_no_loader(rank.recording, rank.loader)


def _worker_memory(rank: _RankAnalysis) -> WorkerMemory | None:
    return None if rank.loader is None else worker_memory(rank.recording, rank.loader)


def _garbage_by_rank(ranks: Sequence[_RankAnalysis]) -> dict[int, float]:
    if len(ranks) < 2:
        return {}
    return {
        rank.recording.rank: garbage_pauses(rank.recording, rank.steps, rank.stages).total_s for rank in ranks
    }


def _per_step(rank: _RankAnalysis, code: int, *, synchronised: bool = False) -> float | None:
    """How many spans of a code a timed step has; None where the run has none."""
    spans = rank.recording.of_code(code)
    if synchronised:
        spans = spans[spans[:, 3] == 1]
    if not len(spans):
        return None
    return len(rank.steps.within(spans)) / float(rank.steps.timed.sum())


def _operations_per_step(rank: _RankAnalysis) -> float | None:
    """Operations of a backward, as counted in the first ones, times backwards per step; None where none was counted."""
    counts = [
        count
        for fact in rank.recording.facts.get("graph", [])
        if (count := whole(fact, "operations")) is not None
    ]
    backwards = _per_step(rank, layout.BACKWARD)
    return None if not counts or backwards is None else float(np.mean(counts)) * backwards


def _losses(manifest: Manifest, recordings: Sequence[RankRecording]) -> _Losses:
    clocks = rank_clocks(recordings)
    ends = rank_ends(recordings, clocks, is_over=manifest.status is not RunStatus.RECORDING)
    starts = [
        clock.to_reference(start)
        for recording, clock in zip(recordings, clocks, strict=True)
        if (start := whole(recording.process, "perf_counter_ns")) is not None
    ]
    failed = manifest.status is RunStatus.FAILED or manifest.note is not None
    in_job = [end for recording, end in zip(recordings, ends, strict=True) if _is_of_job(recording)]
    return _Losses(
        clocks={recording.rank: clock for recording, clock in zip(recordings, clocks, strict=True)},
        ends={end.rank: end for end in ends},
        lost=[end.rank for end in lost_ranks(in_job, failed=failed)],
        origin_ns=min(starts, default=0.0),
    )


def _is_of_job(recording: RankRecording) -> bool:
    """Whether other processes wait for this one; several that train alone may share a run."""
    joined = any(recording.facts.get(name) for name in ("parallel", "sharded"))
    exchanges = len(recording.of_code(layout.COMMUNICATION, layout.COMMUNICATION_WAIT)) > 0
    return joined or exchanges or (whole(recording.process, "world_size") or 1) > 1


def _without_steps(
    run: RunFolder, manifest: Manifest, ranks: Sequence[_RankAnalysis], losses: _Losses
) -> Analysis:
    first = ranks[0] if ranks else None
    reason = why_no_step(run.path, manifest, None if first is None else first.recording)
    steps = first.steps if first is not None else _no_steps()
    stages = first.stages if first is not None else StageTimes.empty()
    report = Report(
        run=_run_info(manifest, steps),
        verdict=f"{losses.sentence} {reason}".strip(),
        setup=first.setup if first is not None else {},
        step_time_reason=reason,
        device_reason="no step was recorded",
        ranks=[_rank_info(rank, losses) for rank in ranks],
        lost_ranks=losses.lost,
        recorder=_cost(manifest, first),
    )
    return Analysis(report, step_table(steps, stages))


def _no_steps() -> Steps:
    nothing, no_flags = np.empty(0, np.int64), np.empty(0, bool)
    return Steps(nothing, nothing, nothing, no_flags, no_flags)


def _run_info(manifest: Manifest, steps: Steps, summarised: int = 0) -> RunInfo:
    return RunInfo(
        id=manifest.id,
        command=manifest.command,
        status=manifest.status,
        exit_code=manifest.exit_code,
        started=manifest.started,
        steps_recorded=len(steps) + summarised,
        steps_warmup=int(steps.warmup.sum()),
    )


def _rank_info(rank: _RankAnalysis, losses: _Losses, late: Lateness | None = None) -> RankInfo:
    ended = ending_of(losses.ends[rank.recording.rank], losses.origin_ns)
    return RankInfo(
        rank=rank.recording.rank,
        pid=whole(rank.recording.process, "pid"),
        steps=len(rank.steps),
        step_time=rank.steps.step_time(),
        stages=rank.stages.shares(rank.steps.timed),
        last_share=None if late is None else late.last_share.get(rank.recording.rank),
        clock=losses.clocks[rank.recording.rank].info(),
        ended=ended,
        note=ending_note(ended),
    )


def _cost(manifest: Manifest, first: _RankAnalysis | None, *more: str | None) -> RecorderCost:
    """The recorder's cost, with what the launcher had to note beside what the agent noted."""
    cost = RecorderCost() if first is None else recorder_cost(first.recording, first.steps)
    notes = [*cost.notes, *(printable(note) for note in (manifest.note, *more) if note)]
    if first is not None and len(first.recording.minutes):
        notes.append(LONG_RUN)
    return cost.model_copy(update={"notes": notes})


def _device_reason(setup: dict[str, Any], window: RankSummary | None) -> str:
    if setup.get("device.kind") == "cpu":
        return "this run used no GPU"
    return "no device was traced in this run" if window is None else "the deep window saw no work on a device"
