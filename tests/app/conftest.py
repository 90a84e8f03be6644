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
    Fact,
    Finding,
    HostLine,
    RankInfo,
    RecorderCost,
    Report,
    RunInfo,
    StageShare,
    StepTime,
    Where,
)  # fmt: skip
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import Confidence, Family, Kind, RunStatus, Severity, Stage

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
            Fact(name="most it can bring", value=2.5, unit="×", basis="derived"),
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
        run.write_steps(steps)
    return run


class Samples:
    """The makers above, for tests that cannot import a conftest."""

    VERDICT = VERDICT
    manifest = staticmethod(manifest)
    recording_manifest = staticmethod(recording_manifest)
    full_report = staticmethod(full_report)
    finding = staticmethod(finding)
    step_table = staticmethod(step_table)
    stages = staticmethod(stages)
    write_recording = staticmethod(write_recording)
    store = staticmethod(store)


@pytest.fixture(scope="session")
def samples() -> type[Samples]:
    return Samples
