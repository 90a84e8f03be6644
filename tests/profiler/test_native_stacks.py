"""Native code below the lines of Python: told where py-spy may sample, and why not where it may not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trainrx.profiler import native_stacks
from trainrx.profiler.analysis import analyse
from trainrx.profiler.capabilities import capabilities
from trainrx.profiler.launch import Limits, record
from trainrx.profiler.native_stacks import (
    NOT_ASKED,
    PYTHON_ITSELF,
    REASON_FILE,
    STACKS_FILE,
    fold,
    innermost,
    read_native_stacks,
)
from trainrx.profiler.pyspy import MainThread
from trainrx.profiler.recording import Frame
from trainrx.profiler.report import Report

SCRIPT = """
import sys, zlib, torch
packed = zlib.compress(bytes(range(256)) * 40_000, 6)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(int(sys.argv[1])):
    data = zlib.decompress(packed)
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print(len(data))
"""
#: py-spy takes a while to begin, and then 20 samples a second.
LIMITS = Limits(steps=800, warmup=2, traced_steps=0)
PROCESS = {"pid": 7, "agent": "/agent/", "library": "/usr/lib/python3"}
LINE = Frame("/home/u/train.py", 12, "decode")
ZLIB = Frame("/lib/libz.so.1", 0, "inflate")


def recorded(tmp_path: Path, steps: int = 1000) -> tuple[Report, str]:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    output = tmp_path / "output"
    with output.open("w") as file:
        run = record(
            [sys.executable, str(script), str(steps)],
            runs_dir=tmp_path / "runs",
            limits=LIMITS,
            native_stacks=True,
            stdout=file,
        )
    return analyse(run).report, output.read_text()


def test_the_native_function_of_a_line_is_named(tmp_path: Path) -> None:
    may = next(one for one in capabilities() if "py-spy" in one.name)
    if not may.available:
        pytest.skip(may.detail)
    # GIVEN a script that spends its steps in zlib WHEN it is recorded with native stacks
    report, _ = recorded(tmp_path)
    # THEN the line is told with the function in it
    assert report.native_stacks is not None, report.native_stacks_reason
    first = report.native_stacks.lines[0]
    assert (first.line, first.in_child) == (7, False) and first.share > 0.5
    assert any("inflate" in one.name or "libz" in one.library for one in first.functions)
    # AND that its steps are longer than they would be
    assert any("py-spy paused" in note for note in report.recorder.notes)


@pytest.mark.parametrize(
    ("said", "told"),
    [("Error: Permission denied (os error 13)", "does not permit"), ("", "gave no reason")],
)
def test_a_refusal_is_told_and_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    # GIVEN a system that does not let py-spy in
    program = [sys.executable, "-c", f"import sys; sys.exit({said!r})"]
    monkeypatch.setattr(native_stacks, "command", lambda pid, **options: program)
    # WHEN a script is recorded with native stacks
    report, output = recorded(tmp_path, 30)
    # THEN everything else is there, with the reason
    assert report.step_time is not None and output == "10240000\n"
    assert report.native_stacks is None and told in (report.native_stacks_reason or "")
    assert any("own sampler" in note and told in note for note in report.recorder.notes)


def test_without_a_step_there_is_nothing_to_sample(tmp_path: Path) -> None:
    with native_stacks.native_stacks_of(tmp_path) as begin:
        begin()  # no rank is there yet
    assert read_native_stacks(tmp_path, PROCESS) == (None, "py-spy took none: no step was seen to begin at")


def test_a_sampler_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_stacks, "GRACE_S", 0.2)
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    native_stacks._ended(process)
    assert process.poll() is not None
    process.stdout.close()


def test_what_was_not_asked_for_says_how_to_ask(tmp_path: Path) -> None:
    assert read_native_stacks(tmp_path, PROCESS) == (None, NOT_ASKED)


@pytest.mark.parametrize("content", ["", "{", '{"shared": {"frames": 3}, "profiles": []}', "[]"])
def test_damaged_samples_are_a_reason(tmp_path: Path, content: str) -> None:
    (tmp_path / STACKS_FILE).write_text(content)
    found, reason = read_native_stacks(tmp_path, PROCESS)
    assert found is None and "is not what py-spy writes" in (reason or "")


def test_a_damaged_reason_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / REASON_FILE).write_bytes(b"\xff" * 5000)
    found, reason = read_native_stacks(tmp_path, PROCESS)
    assert found is None and reason is not None and len(reason) < 1100


def test_samples_are_folded_by_line_and_function() -> None:
    # GIVEN samples of a training process and of a forked worker, which has its parent's frames outermost
    begun = Frame("/usr/lib/python3/multiprocessing/process.py", 108, "run")
    parents = Frame("/home/u/train.py", 30, "<module>")
    worker = MainThread(8, ((ZLIB, LINE, begun, parents), (begun, parents), (begun, parents)))
    training = MainThread(7, ((LINE,), (ZLIB, LINE), (ZLIB, LINE), (ZLIB, parents)))
    # WHEN they are folded
    found = fold([worker, training], PROCESS)
    # THEN the training's lines come first, and a worker that waits is in no code of the run
    assert [(line.line, line.in_child, line.samples) for line in found.lines] == [
        (12, False, 3),
        (30, False, 1),
        (12, True, 1),
    ]
    assert [line.share for line in found.lines] == [0.75, 0.25, 1.0]
    assert [(one.name, one.library) for one in found.lines[0].functions] == [
        ("inflate", "libz.so.1"),
        (PYTHON_ITSELF, ""),
    ]
    assert (found.samples, found.children) == (5, 1)


@pytest.mark.parametrize(
    ("frames", "told"),
    [
        ([LINE], (PYTHON_ITSELF, "")),
        ([ZLIB, LINE], ("inflate", "libz.so.1")),
        ([Frame("/lib/a.so", 0, "0x7f01"), Frame("/lib/b.so", 0, "mul"), LINE], ("mul", "b.so")),
        ([Frame("/lib/a.so", 0, "0x7f01"), LINE], ("in a.so", "a.so")),
        (
            [Frame("t.so", 0, "void at::native::(anonymous namespace)::add<float>(long, int)"), LINE],
            ("at::native::add", "t.so"),
        ),
        ([Frame("t.so", 0, "<lambda>"), LINE], ("<lambda>", "t.so")),
    ],
)
def test_the_innermost_function_with_a_name(frames: list[Frame], told: tuple[str, str]) -> None:
    assert innermost(tuple(frames)) == told
