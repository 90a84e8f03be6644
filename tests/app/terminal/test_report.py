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
