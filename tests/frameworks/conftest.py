"""Unedited scripts of the frameworks that people train with, run with and without the recorder.

Each process imports torch and a framework, which takes seconds; so a script does as much as it can, once.
"""

import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from trainrx.profiler.analysis import analyse
from trainrx.profiler.launch import Limits, record
from trainrx.profiler.report import Report

#: Ranks that wait for one another for ever are ended.
TIMEOUT_S = 240.0
WHOLE = Limits(steps=None, warmup=2, traced_steps=0, seconds=None, patience_s=None, timeout_s=TIMEOUT_S)
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
RunBoth = Callable[..., "tuple[list[str], list[str], Report]"]
RecordCommand = Callable[..., Report]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture
def record_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> RecordCommand:
    """Records a command and analyses it; ``lines`` takes what it printed on stdout."""

    def run(command: Sequence[str], *, limits: Limits = WHOLE, lines: list[str] | None = None) -> Report:
        capfd.readouterr()
        folder = record(command, runs_dir=tmp_path / "runs", limits=limits)
        printed = capfd.readouterr()
        if lines is not None:
            lines += printed.out.splitlines()
        report = analyse(folder).report
        assert not [note for note in report.recorder.notes if "fault" in note], report.recorder.notes
        return report

    return run


@pytest.fixture
def run_both(tmp_path: Path, record_command: RecordCommand, monkeypatch: pytest.MonkeyPatch) -> RunBoth:
    """Runs a command plain and recorded, each in a folder of its own: what each printed, sorted, and the report."""

    def run(command: Sequence[str]) -> tuple[list[str], list[str], Report]:
        for name in ("plain", "recorded"):
            (tmp_path / name).mkdir()
        plain = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path / "plain", timeout=TIMEOUT_S
        )
        assert plain.returncode == 0, plain.stderr
        monkeypatch.chdir(tmp_path / "recorded")
        lines: list[str] = []
        report = record_command(command, lines=lines)
        assert report.run.exit_code == 0
        return sorted(plain.stdout.splitlines()), sorted(lines), report

    return run


def seconds_of(report: Report) -> dict[str, float]:
    """Seconds per step by stage; they sum to the step, which is asserted here for all."""
    assert report.step_time is not None
    stages = {str(stage.name): stage.seconds_per_step for stage in report.stages}
    assert sum(stages.values()) == pytest.approx(report.step_time.mean_s, rel=1e-6)
    assert sum(stage.share for stage in report.stages) == pytest.approx(1.0, abs=1e-3)
    return stages


@pytest.fixture
def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
