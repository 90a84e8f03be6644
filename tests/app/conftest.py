"""Stored runs in every state, made without training anything."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.report import (
    CellAdvice,
    CellsLeft,
    CollectiveSkew,
    Crossing,
    DeviceShares,
    DeviceStageInfo,
    DeviceStep,
    DeviceTelemetry,
    Estimate,
    EstimatedLine,
    EstimatedShare,
    EstimatedWorker,
    Evidence,
    Fact,
    Finding,
    HostLine,
    HostTelemetry,
    KernelClass,
    LaunchQueueInfo,
    LoaderLine,
    LoaderReport,
    MatrixUse,
    MemoryCurveInfo,
    MemoryPart,
    MemoryUse,
    Prediction,
    Prescription,
    RankInfo,
    RankWait,
    RecorderCost,
    Report,
    RuledOut,
    RunInfo,
    Series,
    Speedup,
    StageShare,
    StepTime,
    Telemetry,
    TransformReport,
    Trial,
    WhatIf,
    Where,
    WorkerReport,
)  # fmt: skip
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import Call, Confidence, Family, IdleCause, Kind, RunStatus, Severity, Stage

STAGES = {Stage.DATA_WAIT: 0.06, Stage.FORWARD: 0.012, Stage.BACKWARD: 0.023, Stage.HOST: 0.005}
VERDICT = "The training loop waits 60.0 ms of every step (60 %) for data at train.py:12 (load)."


def manifest(name: str, status: RunStatus = RunStatus.FINISHED, **more: Any) -> Manifest:
    return Manifest(
        id=name,
        command=["/usr/bin/python", "train.py", "--lr", "0.1"],
        cwd="/home/u",
        started="2026-11-30T16:15:00+00:00",
        status=status,
        **more,
    )


def stages() -> list[StageShare]:
    return [StageShare(name=name, seconds_per_step=s, share=s / 0.1) for name, s in STAGES.items()]


def finding(severity: Severity = Severity.HIGH) -> Finding:
    return Finding(
        kind=Kind.DATA_LOADING,
        family=Family.DATA_LOADING,
        cause="main-process-loading",
        share=0.6,
        ms_per_step=60.0,
        severity=severity,
        confidence=Confidence.HIGH,
        where=[Where(file="/home/u/train.py", line=12, function="load")],
        evidence=[
            Fact(name="share of step", value=0.6),
            Fact(name="speed-up if only this time went", value=2.5, unit="×", basis="derived"),
            Fact(name="loader.num_workers", value=0, basis="setup"),
        ],
        summary=VERDICT,
    )


def full_report(name: str = "run", **changes: Any) -> Report:
    time = StepTime(p50_s=0.099, p95_s=0.12, mean_s=0.1, n=6)
    report = Report(
        run=RunInfo(
            id=name, command=["train.py"], status=RunStatus.FINISHED, steps_recorded=9, steps_warmup=2
        ),
        verdict=VERDICT,
        setup={"device.kind": "cpu", "loader.num_workers": 0, "torch.version": "2.13.0"},
        step_time=time,
        stages=stages(),
        host_lines=[
            HostLine(file="/home/u/train.py", line=12, function="<module>", stage=Stage.DATA_WAIT,
                     seconds_per_step=0.055, share=0.55, samples=90),
            HostLine(file="/home/u/train.py", line=40, function="log", stage=Stage.HOST,
                     seconds_per_step=0.005, share=0.05, samples=2),
        ],
        device_reason="this run used no GPU",
        findings=[finding()],
        ranks=[RankInfo(rank=0, steps=9, step_time=time, stages=stages())],
        recorder=RecorderCost(overhead_share=0.004, overhead_us_per_step=400.0),
    )  # fmt: skip
    return report.model_copy(update=changes)


def device(**idle: float) -> DeviceShares:
    """A device that computes half of the time; ``idle`` splits the 40 % that it idles, by cause."""
    causes = {IdleCause(name): share for name, share in (idle or {"data": 0.3, "launch": 0.1}).items()}
    return DeviceShares(
        busy_share=0.6, compute_share=0.5, exposed_communication_share=0.08, exposed_copy_share=0.02,
        idle_share=0.4, idle_causes=causes,
    )  # fmt: skip


def gpu_report(name: str = "gpu", **changes: Any) -> Report:
    """Of a recorded run on a GPU."""
    seen: dict[str, Any] = {
        "device_stages": DeviceStageInfo(
            steps=6, between_s=0.01, between_share=0.1, waits_s=0.02, lead_s=0.005,
            stages=[StageShare(name=Stage.BACKWARD, seconds_per_step=0.07, share=0.7),
                    StageShare(name=Stage.DATA_WAIT, seconds_per_step=0.02, share=0.2)],
        ),
        "crossings": [
            Crossing(call=Call.ITEM, file="/home/u/train.py", line=30, function="main", calls_per_step=2,
                     seconds_per_step=0.06, samples=50),
        ],
        "memory_use": MemoryUse(
            on_device=True, peak_bytes=4 * 1024**3, limit_bytes=80 * 1024**3, reserved_peak_bytes=5 * 1024**3,
            parts=[MemoryPart(name="parameters", bytes=1024**3), MemoryPart(name="rest", bytes=3 * 1024**3)],
            largest_batch=700,
        ),
    }  # fmt: skip
    return full_report(name, **{**seen, **changes})


def traced_report(name: str = "traced", **changes: Any) -> Report:
    """Of a trace of two ranks, the second of them late in the backward."""
    slow = [StageShare(name=Stage.FORWARD, seconds_per_step=0.02, share=0.2),
            StageShare(name=Stage.BACKWARD, seconds_per_step=0.08, share=0.8)]  # fmt: skip
    waits = RankWait(
        waiting_s=0.2, waiting_share=0.2, wire_s=0.1, wire_share=0.1, times_last=1, delay_caused_s=0.01
    )
    time = StepTime(p50_s=0.1, p95_s=0.11, mean_s=0.1, n=3)
    traced = {
        "device": device(),
        "kernel_classes": [KernelClass(name="matmul", seconds=0.3, count=30, mean_us=10_000, share=0.75),
                           KernelClass(name="communication", seconds=0.1, count=5, mean_us=20_000, share=0.25)],
        "device_steps": [DeviceStep(number=n, seconds=0.1, device=device(), rank=rank) for n in (4, 5) for rank in (0, 1)],
        "launch_queue": LaunchQueueInfo(delay_median_us=20.0, delay_p90_us=50.0, mean_depth=3.0, linked=9),
        "matrix_use": MatrixUse(matrix_unit_share=0.9, precision_shares={"bf16": 0.75, "fp32": 0.25}),
        "memory": MemoryCurveInfo(peak_allocated_bytes=2 * 1024**3, peak_reserved_bytes=3 * 1024**3, source="a",
                                  time_s=[0.0, 0.5, 1.0], allocated_bytes=[0, 2 * 1024**3, 1024**3]),
        "collectives": CollectiveSkew(matched=10, unmatched=0, skew_mean_s=0.001, skew_max_s=0.01, late_rank=1),
        "ranks": [
            RankInfo(rank=0, steps=3, step_time=time, stages=stages(), device=device(), collectives=waits),
            RankInfo(rank=1, steps=3, step_time=time, stages=slow, device=device(), last_share=0.9,
                     collectives=waits.model_copy(update={"times_last": 9})),
        ],
        "what_ifs": [
            WhatIf(change=change, measured_step_s=0.1, predicted_step_s=after, bound_step_s=least, unexplained_share=0.001)
            for change, after, least in (("data wait removed", 0.07, 0.06), ("launch cost removed", 0.0999, 0.09),
                                         ("matmul kernels × 0.5", 0.06, 0.05))
        ],
    }  # fmt: skip
    return full_report(name, **(traced | changes))


def loader(**changes: Any) -> LoaderReport:
    """Two workers that wait most of their time."""
    report = LoaderReport(
        num_workers=2, batches=41, samples_per_batch=16, sample_wall_s=0.0035, sample_cpu_s=0.0005,
        collate_wall_s=0.0016, collate_cpu_s=0.0008, cpu_share=0.15, core_wait_share=0.1, start_s=0.3, empty_share=0.75,
        workers=[WorkerReport(worker=0, batches=20, busy_share=0.96, batch_s=0.058)],
        transforms=[TransformReport(name="Read", file="/home/u/train.py", line=10, calls=9, wall_s=0.003, cpu_s=0.0001)],
        lines=[LoaderLine(file="/home/u/train.py", line=11, function="Read.__call__", share=0.9, samples=169)],
    )  # fmt: skip
    return report.model_copy(update=changes)


def telemetry() -> Telemetry:
    """A host with two cores, one device that was held down, and a series with a gap."""
    return Telemetry(
        samples=30, interval_s=0.5, cost_share=0.001,
        host=HostTelemetry(cores=2, cores_busy=1.9, rss_bytes=1024**3),
        devices=[DeviceTelemetry(index=0, name="H100", samples=9, busy=0.8, clock_mhz=1500, held_share=0.4,
                                 reason_shares={"power": 0.4})],
        series_s=0.5,
        series=[Series(name="cores_busy", unit="cores", values=[1.0, None, 2.0]),
                Series(name="rss_bytes", unit="bytes", values=[1024**2, 2 * 1024**2, 3 * 1024**2])],
    )  # fmt: skip


def attached_report(name: str = "attached") -> Report:
    """Of a run that was looked at from outside: shares, and no step time."""
    estimate = Estimate(
        method="sampled stacks", seconds=8.0, samples=800,
        stages=[EstimatedShare(name=Stage.DATA_WAIT, share=0.62, low=0.52, high=0.71, samples=496),
                EstimatedShare(name=Stage.FORWARD, share=0.38, low=0.29, high=0.48, samples=304)],
        lines=[EstimatedLine(file="/home/u/train.py", line=12, function="main", stage=Stage.DATA_WAIT, share=0.6,
                             samples=480)],
        workers=[EstimatedWorker(pid=77, samples=90, busy_share=0.9)],
    )  # fmt: skip
    found = finding().model_copy(update={"ms_per_step": None})
    return full_report(
        name,
        step_time=None,
        stages=[],
        host_lines=[],
        findings=[found],
        estimate=estimate,
        verdict="Estimated.",
    )


def prescription(method: str = "dataloader-num-workers", **changes: Any) -> Prescription:
    """Two workers, with one paper that gained and one report that did not."""
    found = Prescription(
        method=method, knob="loader.num_workers=2", finding=Kind.DATA_LOADING, equivalence="exact",
        predicted_speedup=Prediction(low=1.2, mid=1.8, high=2.2, bound=2.5), basis="throughput model",
        risk="none", how="DataLoader(..., num_workers=2)", verify="data wait must fall by 30 %",
        evidence=[Evidence(text="2.07× on 8 GPUs", gain=2.07, gain_kind="step-time", grade="B", source="a"),
                  Evidence(text="no gain on a slow disk", gain_kind="step-time", grade="N", source="b", negative=True)],
        asks=["`loader.num_workers` on the <cluster>?"], title="DataLoader worker processes", effort="one switch",
        next_bottleneck="backward",
    )  # fmt: skip
    return found.model_copy(update=changes)


def trial(**changes: Any) -> Trial:
    """Two workers, proven."""
    done = Trial(
        id="1", knobs={"loader.num_workers": "2"}, predicted_speedup=prescription().predicted_speedup,
        speedup=Speedup(median=1.7, low=1.6, high=1.8), pairs=3, verdict="faster", loss_check="same",
        method="dataloader-num-workers", finding=Kind.DATA_LOADING,
    )  # fmt: skip
    return done.model_copy(update=changes)


def advised_report(name: str = "advised", **changes: Any) -> Report:
    """With prescriptions of two kinds of learning, a trial, cells, and one that was ruled out."""
    unsure = prescription(
        "el2n-data-diet",
        knob=None,
        predicted_speedup=None,
        equivalence="semantic",
        title="Data diet",
        evidence=[],
    )
    cell = CellAdvice(finding=Kind.DATA_LOADING, component="system", subcomponent="input-pipeline", action=None,
                      methods=["dataloader-num-workers"], reason="22 methods relieve data-loading")  # fmt: skip
    worse = cell.model_copy(
        update={"component": "data", "action": "retrofit", "avoid": True, "methods": ["augmix"],
                "methods_left": 6, "reason": "it makes data loading worse"}
    )  # fmt: skip
    advice = {
        "prescriptions": [prescription(), unsure],
        "trials": [trial()],
        "cells": [cell, worse],
        "cells_left": [CellsLeft(finding=Kind.DATA_LOADING, component="function", cells=4),
                       CellsLeft(finding=Kind.DATA_LOADING, component=None, cells=2)],
        "ruled_out": [RuledOut(method="pin-memory", title="Pinned host memory", finding=Kind.DATA_LOADING,
                               reason="needs a GPU")],
    }  # fmt: skip
    return full_report(name, **(advice | changes))


def step_table(n: int = 9, warmup: int = 2, traced: int = 1, outliers: tuple[int, ...] = ()) -> pd.DataFrame:
    duration = np.full(n, 0.1)
    duration[list(outliers)] = 0.9
    phase = ["warmup"] * warmup + ["timed"] * (n - warmup - traced) + ["traced"] * traced
    scale = duration / 0.1
    return pd.DataFrame(
        {
            "step": np.arange(n),
            "start_s": np.cumsum(duration) - duration,
            "duration_s": duration,
            "fetches": 1,
            "phase": phase,
            "outlier": [i in outliers and p == "timed" for i, p in enumerate(phase)],
            **{stage.value: STAGES.get(stage, 0.0) * scale for stage in Stage},
        }
    )


def write_recording(run: RunFolder, steps: int) -> None:
    """What the agent of a training process writes: ``steps`` steps of 100 ms."""
    folder = run.path / "ranks" / "0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / layout.FACTS_FILE).write_text(
        json.dumps({"t": 0, "fact": "process", "rank": 0, "device_kind": "cpu"}) + "\n"
    )
    records: list[tuple[int, int, int, int]] = []
    codes = (layout.DATA_WAIT, layout.FORWARD, layout.BACKWARD, layout.OPTIMIZER)
    for number in range(steps):
        start = number * 100_000_000
        records.append((layout.STEP, start, start + 100_000_000, 1))
        for code, (begin, end) in zip(codes, ((0, 60), (60, 70), (70, 94), (94, 99)), strict=True):
            argument = 0 if code != layout.DATA_WAIT else 1
            records.append((code, start + begin * 1_000_000, start + end * 1_000_000, argument))
    np.array(records, dtype="<i8").tofile(folder / layout.SPANS_FILE)


def recording_manifest(name: str) -> Manifest:
    """Of a run whose recorder is this very process, and so alive."""
    return manifest(
        name,
        RunStatus.RECORDING,
        launcher_pid=os.getpid(),
        launcher_started=psutil.Process().create_time(),
        options={"warmup": 2},
    )


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, the one that the dashboard looks into."""
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setenv("TRAINRX_RUNS", str(folder))
    return folder


def store(
    folder: Path,
    name: str,
    *,
    report: Report | None = None,
    steps: pd.DataFrame | None = None,
    kept: Manifest | None = None,
) -> RunFolder:
    run = RunFolder(folder / name)
    run.path.mkdir()
    run.write_manifest(kept or manifest(name))
    if report is not None:
        run.write_report(report)
    if steps is not None:
        run.write_steps({name: np.asarray(steps[name].tolist()) for name in steps})
    return run


class Samples:
    """The makers above, for tests that cannot import a conftest."""

    VERDICT = VERDICT
    manifest = staticmethod(manifest)
    recording_manifest = staticmethod(recording_manifest)
    full_report = staticmethod(full_report)
    traced_report = staticmethod(traced_report)
    gpu_report = staticmethod(gpu_report)
    attached_report = staticmethod(attached_report)
    advised_report = staticmethod(advised_report)
    prescription = staticmethod(prescription)
    trial = staticmethod(trial)
    device = staticmethod(device)
    loader = staticmethod(loader)
    telemetry = staticmethod(telemetry)
    finding = staticmethod(finding)
    step_table = staticmethod(step_table)
    stages = staticmethod(stages)
    write_recording = staticmethod(write_recording)
    store = staticmethod(store)


@pytest.fixture(scope="session")
def samples() -> type[Samples]:
    return Samples
