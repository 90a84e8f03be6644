"""What is printed of a run on a GPU."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from trainrx.app.terminal.report import render


def test_a_gpus_own_clock_and_memory_are_printed(samples: Any) -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(render(samples.gpu_report(), Path("runs/gpu")))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "The same step on the GPU" in printed and "5.0 ms ahead" in printed
    assert "What fills the GPU's memory" in printed and "parameters 1.0 GiB" in printed
