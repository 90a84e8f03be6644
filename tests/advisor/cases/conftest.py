"""Turns a case's facts into what the diagnosis looks at, and on into a report with prescriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from trainrx.advisor.prescribe import prescribe
from trainrx.catalog import Catalog, load_catalog
from trainrx.profiler.diagnosis import diagnose
from trainrx.profiler.diagnosis.device.observation import DeviceObservation, RankSkew
from trainrx.profiler.diagnosis.device.verdict import find_all
from trainrx.profiler.observation import Observation
from trainrx.profiler.report import (
    DeviceShares,
    Fact,
    Finding,
    HostLine,
    HostTelemetry,
    KernelClass,
    LoaderLine,
    LoaderReport,
    MatrixUse,
    Report,
    RunInfo,
    StageShare,
    StepTime,
    Telemetry,
    TransformReport,
    Where,
)
from trainrx.profiler.timeline.interruptions import Interruptions
from trainrx.profiler.timeline.lateness import Lateness
from trainrx.profiler.timeline.memory_use import DeviceMemory
from trainrx.profiler.timeline.own_collectives import OwnCollectives
from trainrx.profiler.timeline.process_memory import ProcessMemory
from trainrx.profiler.timeline.stages import STAGES
from trainrx.profiler.timeline.worker_memory import WorkerMemory
from trainrx.profiler.vocabulary import Confidence, IdleCause, Kind, RunStatus, Severity, Stage

Facts = Mapping[str, Any]
STEPS = 40
MB = 2**20


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="session")
def advised(catalog: Catalog) -> Callable[[Facts], Report]:
    """The report of a case, diagnosed and with prescriptions."""
    return lambda case: prescribe(report_of(case), catalog)


def report_of(case: Facts) -> Report:
    if "device" in case:
        return _traced(case)
    return _recorded(case) if "stages" in case else _told(case)


def _recorded(case: Facts) -> Report:
    """Through the rules on recorded runs."""
    setup, stages = dict(case.get("setup", {})), _stages(case)
    step_s = sum(stages.values())
    time = StepTime(p50_s=step_s, p95_s=1.1 * step_s, mean_s=step_s, n=STEPS)
    loader = _loader(case["loader"]) if "loader" in case else None
    lines = tuple(_host_line(line, step_s) for line in case.get("lines", []))
    findings = diagnose(
        Observation(
            setup=setup,
            step_time=time,
            stages=stages,
            lines=lines,
            loader=loader,
            lateness=_lateness(case["ranks"]) if "ranks" in case else None,
            exchanges_per_step=case.get("exchanges_per_step"),
            collectives=_collectives(case),
            core_wait_share=case.get("core_wait_share"),
            compilation=_interruptions(case.get("compilation", {})),
            device_memory=_gpu_memory(case["gpu_memory"]) if "gpu_memory" in case else None,
            memory=_memory(case["memory"]) if "memory" in case else None,
            evaluation_gradient_share=case.get("evaluation_gradient_share"),
            worker_memory=_worker_memory(case["worker_memory_mb"]) if "worker_memory_mb" in case else None,
            telemetry=_telemetry(case["shared_memory_mb"]) if "shared_memory_mb" in case else None,
        )
    )
    return Report(
        run=_run(),
        verdict="",
        setup=setup,
        step_time=time,
        batches_per_step=case.get("batches_per_step", 1.0),
        process_cpu_s_per_step=case.get("process_cpu_s"),
        core_wait_share=case.get("core_wait_share"),
        stages=[
            StageShare(name=stage, seconds_per_step=seconds, share=seconds / step_s)
            for stage, seconds in stages.items()
        ],
        host_lines=list(lines),
        loader=loader,
        findings=_with_cause(findings, case),
    )


def _collectives(case: Facts) -> OwnCollectives:
    tiny = case.get("tiny_collectives", {})
    return OwnCollectives(
        case.get("collectives_per_step", 0.0), tiny.get("per_step", 0.0), tiny.get("ms", 0.0) / 1e3
    )


def _with_cause(findings: list[Finding], case: Facts) -> list[Finding]:
    """The findings, with one that the case gives: of a cause that needs facts which an observation has not."""
    given = case.get("finding")
    if given is None:
        return findings
    kept = [finding for finding in findings if finding.kind != given["kind"]]
    ms = sum(_stages(case).values()) * 1e3
    return sorted([_finding(given, ms), *kept], key=lambda finding: finding.severity is Severity.NOTE)


def _traced(case: Facts) -> Report:
    """Through the rules on device traces."""
    seen = _device(case["device"])
    findings = find_all(seen)
    if "finding" in case:
        given = _finding(case["finding"], seen.ms_per_step)
        findings = [given, *(finding for finding in findings if finding.kind is not given.kind)]
    return Report(
        run=_run(),
        verdict="",
        setup=dict(case.get("setup", {})),
        step_time=StepTime(p50_s=seen.step_s, p95_s=seen.step_s, mean_s=seen.step_s, n=10),
        device=DeviceShares(
            busy_share=1 - seen.idle_share,
            compute_share=seen.compute_share,
            exposed_communication_share=seen.communication_share,
            exposed_copy_share=case["device"].get("copy_share", 0.0),
            idle_share=seen.idle_share,
            idle_causes=dict(seen.idle_causes),
        ),
        kernel_classes=[
            KernelClass(name=name, seconds=share, count=100, mean_us=20.0, share=share)
            for name, share in seen.kernel_shares.items()
        ],
        matrix_use=MatrixUse(
            matrix_unit_share=seen.matrix_unit_share, precision_shares=dict(seen.precision_shares)
        ),
        findings=findings,
    )


def _told(case: Facts) -> Report:
    """A report of which only a finding is known, such as that of a run that ended for want of memory."""
    return Report(
        run=_run(),
        verdict="",
        setup=dict(case.get("setup", {})),
        step_time=StepTime(p50_s=0.2, p95_s=0.2, mean_s=0.2, n=STEPS),
        findings=[_finding(case["finding"], 200.0)],
    )


def _finding(given: Facts, step_ms: float) -> Finding:
    kind, share = Kind(given["kind"]), float(given.get("share", 0.0))
    return Finding(
        kind=kind,
        family=kind.family,
        cause=given.get("cause"),
        share=share,
        ms_per_step=share * step_ms,
        severity=Severity(given.get("severity", "high")),
        confidence=Confidence.MEDIUM,
        where=[Where(**place) for place in given.get("where", [])],
        evidence=[
            Fact(name=name, value=value, unit="bytes") for name, value in given.get("bytes", {}).items()
        ],
        summary="",
    )


def _device(facts: Facts) -> DeviceObservation:
    known = dict(facts)
    known["idle_causes"] = {IdleCause(name): share for name, share in known.get("idle_causes", {}).items()}
    known["idle_share"] = sum(known["idle_causes"].values())
    rest = 1 - known["idle_share"] - known.get("communication_share", 0.0) - known.pop("copy_share", 0.0)
    known.setdefault("compute_share", rest)
    step_s = known.pop("step_ms") / 1e3
    if "skew" in known:
        known["skew"] = RankSkew(**known["skew"])
    return DeviceObservation(
        window_s=10 * step_s, step_s=step_s, device_active=True, host_active=True, **known
    )


def _loader(facts: Facts) -> LoaderReport:
    wall_s = facts["sample_ms"] / 1e3
    cpu = facts.get("cpu_share", 0.95)
    collate_s = facts.get("collate_ms", 0.1) / 1e3
    return LoaderReport(
        num_workers=facts["workers"],
        batches=STEPS,
        samples_per_batch=facts["samples"],
        sample_wall_s=wall_s,
        sample_cpu_s=cpu * wall_s,
        collate_wall_s=collate_s,
        collate_cpu_s=0.95 * collate_s,
        cpu_share=cpu,
        core_wait_share=facts.get("core_wait_share"),
        start_s=facts.get("start_s"),
        starts=facts.get("starts", 0),
        transforms=[
            TransformReport(name=name, calls=1000, wall_s=ms / 1e3, cpu_s=ms / 1e3)
            for name, ms in facts.get("transforms", {}).items()
        ],
        lines=[
            LoaderLine(file=file, line=line, function=function, share=share, samples=100)
            for file, line, function, share in facts.get("lines", [])
        ],
    )


def _host_line(line: Any, step_s: float) -> HostLine:
    file, number, function, stage, share = line
    return HostLine(
        file=file,
        line=number,
        function=function,
        stage=Stage(stage),
        seconds_per_step=share * step_s,
        share=share,
        samples=100,
    )


def _lateness(ranks: Facts) -> Lateness:
    """Ranks of which each step makes another one late: ``own_ms`` lists own times, turned by one rank a step."""
    own = np.array(ranks["own_ms"]) / 1e3
    turns = [np.roll(own, step) for step in range(STEPS)] if ranks.get("turning", True) else [own] * STEPS
    own_s = np.stack(turns, axis=1)
    wire_s = ranks.get("wire_ms", 0.0) / 1e3
    stages_s = np.zeros((len(own), len(STAGES)))
    stages_s[:, STAGES.index(Stage(ranks.get("stage", "forward")))] = own_s.mean(axis=1)
    return Lateness(
        ranks=tuple(range(len(own))),
        own_s=own_s,
        wait_s=own_s.max(axis=0) - own_s + wire_s,
        stages_s=stages_s,
    )


def _memory(facts: Facts) -> ProcessMemory:
    """A memory over the recorded steps, which grows in most of its readings if it does so at all; sizes in MB."""
    growth_mb = facts.get("growth_mb", 0.0)
    return ProcessMemory(
        peak_bytes=facts["peak_mb"] * MB,
        growth_bytes_per_step=growth_mb * MB,
        rising_share=0.9 if growth_mb else 0.0,
        limit_bytes=facts["limit_mb"] * MB if "limit_mb" in facts else None,
        steps=STEPS,
        peak_in_evaluation=facts.get("peak_in_evaluation", False),
        uncollected_per_step=facts.get("uncollected_per_step"),
        kept_graphs_share=facts.get("kept_graphs"),
    )


def _worker_memory(sizes_mb: Facts) -> WorkerMemory:
    sizes = {f"{name}_bytes": size * MB for name, size in sizes_mb.items() if name != "workers"}
    return WorkerMemory(workers=sizes_mb["workers"], **sizes)


def _telemetry(shared_memory_mb: int) -> Telemetry:
    return Telemetry(samples=20, interval_s=0.2, host=HostTelemetry(shared_bytes=shared_memory_mb * MB))


def _gpu_memory(facts: Facts) -> DeviceMemory:
    return DeviceMemory(
        growth=_memory(facts),
        reserved_peak_bytes=facts.get("reserved_mb", facts["peak_mb"]) * MB,
        inactive_split_bytes=facts.get("inactive_split_mb", 0) * MB,
        retries=facts.get("retries", 0),
        out_of_memory=facts.get("out_of_memory", 0),
        outside_bytes=None,
    )


def _interruptions(facts: Facts) -> Interruptions:
    seconds = {Stage(name): ms / 1e3 for name, ms in facts.items() if name != "per_step"}
    return Interruptions(per_step=facts.get("per_step", 0.0), seconds=seconds)


def _stages(case: Facts) -> dict[Stage, float]:
    return {Stage(name): ms / 1e3 for name, ms in case["stages"].items()}


def _run() -> RunInfo:
    return RunInfo(id="case", command=["python", "train.py"], status=RunStatus.FINISHED, steps_recorded=STEPS)
