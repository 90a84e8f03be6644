"""What is printed of a run on a GPU."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from trainrx.app.terminal.report import render
from trainrx.profiler.report import DeepWindowCost, RecorderCost


def test_a_gpus_own_clock_and_memory_are_printed(samples: Any) -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(render(samples.gpu_report(), Path("runs/gpu")))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "The same step on the GPU" in printed and "5.0 ms ahead" in printed
    assert "What fills the GPU's memory" in printed and "parameters 1.0 GiB" in printed


def printed(renderable: Any) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_run_that_comes_with_trainrx_is_opened_as_one(samples: Any) -> None:
    report = samples.full_report()
    assert "open it with `trainrx ui`" in printed(render(report, Path("runs/compute")))
    bundled = report.model_copy(update={"run": report.run.model_copy(update={"source": "sample"})})
    assert "open it with `trainrx samples compute --ui`" in printed(render(bundled, Path("samples/compute")))


def test_the_cost_of_the_deep_window_is_told_where_there_was_one(samples: Any) -> None:
    window = DeepWindowCost(steps=3, mean_step_s=0.15, timed_step_s=0.1, opening_s=0.5, closing_s=1.5)
    report = samples.full_report(recorder=RecorderCost(deep_window=window))
    assert (
        "deep window: took 2 s to open and close, and its 3 steps took 150.0 ms each, against 100.0 ms of a timed one; "
        "none of that is in the timing"
    ) in printed(render(report, Path("runs/a")))
    assert "deep window" not in printed(render(samples.full_report(), Path("runs/a")))


def test_the_first_three_prescriptions_are_printed_and_the_rest_counted(samples: Any) -> None:
    # GIVEN five prescriptions WHEN they are printed
    five = [samples.prescription(title=f"Change {letter}", how=f"do {letter}") for letter in "ABCDE"]
    text = printed(render(samples.advised_report(prescriptions=five), Path("runs/a")))
    # THEN three stand there in order, each with how, and what is left is counted
    shown = [line.split("  ")[0] for line in text.splitlines() if "Change" in line]
    assert shown == ["1. Change A", "2. Change B", "3. Change C"]
    assert "do C" in text and "do D" not in text
    assert "and 2 more, in the dashboard and with --json" in text


def test_three_prescriptions_leave_none_to_count(samples: Any) -> None:
    three = [samples.prescription(title=f"Change {letter}") for letter in "ABC"]
    text = printed(render(samples.advised_report(prescriptions=three), Path("runs/a")))
    assert "3. Change C" in text and "more, in the dashboard" not in text
