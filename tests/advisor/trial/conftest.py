from pathlib import Path

import pytest

from trainrx.advisor.trial.arm import Arm, KnobEvent, Script
from trainrx.profiler.launch import Limits
from trainrx.profiler.report import Report, RunInfo, StepTime
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import RunStatus

LOSSES = {0: tuple((step, 2.0 / (step + 1)) for step in range(20))}


class Machine:
    """A training that exists in numbers only: each knob multiplies the step time and may change losses."""

    def __init__(self, factors, *, noise=lambda: 1.0, losses=None, fails=(), ignores=(), step_s=0.1):
        self.factors, self.noise, self.losses = factors, noise, losses or {}
        self.fails, self.ignores, self.step_s = fails, ignores, step_s
        self.time_s = 0.0
        self.ran = []

    def clock(self):
        return self.time_s

    def __call__(self, script, choice):
        self.ran.append(dict(choice.texts))
        self.time_s += 5.0
        failing = [name for name in choice.texts if name in self.fails]
        if failing:
            return Arm(run="x", step_s=None, failure=f"the script failed with exit code 1: {failing[0]}")
        step_s, losses = self.step_s * self.noise(), LOSSES
        for name in choice.texts:
            if name not in self.ignores:
                step_s /= self.factors.get(name, 1.0)
            losses = self.losses.get(name, losses)
        events = tuple(
            KnobEvent(name, "not applied" if name in self.ignores else "applied", "because", 7)
            for name in choice.texts
        )
        return Arm(
            run=f"r{len(self.ran)}", step_s=step_s, n_steps=20, losses=losses, events=events, pids=(7,)
        )


@pytest.fixture
def script():
    return Script(("python", "train.py"), None, Limits())


@pytest.fixture
def base_run(tmp_path):
    """A stored run of a command."""
    path = tmp_path / "runs" / "base"
    path.mkdir(parents=True)
    run = RunFolder(path)
    run.write_manifest(
        Manifest(
            id="base", command=["python", "train.py"], cwd=str(tmp_path), started="2026-01-01T00:00:00+00:00",
            status=RunStatus.STOPPED,
        )
    )  # fmt: skip
    run.write_report(report())
    return run


def report(**changes):
    return Report(
        run=RunInfo(id="base", command=["python", "train.py"], status=RunStatus.STOPPED),
        verdict="",
        step_time=StepTime(p50_s=0.1, p95_s=0.1, mean_s=0.1, n=40),
        **changes,
    )


def files_of(folder: Path):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
