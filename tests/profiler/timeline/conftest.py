"""Small traces written by hand, in microseconds, read through the real reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.ingest.kineto import read_kineto

Event = dict[str, Any]


class Script:
    """Makes events: host rows lie on thread 1 of process 1, device rows on stream 7 of device 0."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def host(
        self, category: str, name: str, start: float, end: float, *, thread: int = 1, **args: Any
    ) -> Script:
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": 1,
                "tid": thread,
                "ts": start,
                "dur": end - start,
                "args": args,
            }
        )
        return self

    def device(
        self, category: str, name: str, start: float, end: float, *, stream: int = 7, **args: Any
    ) -> Script:
        args = {"device": 0, "stream": stream, **args}
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": 0,
                "tid": stream,
                "ts": start,
                "dur": end - start,
                "args": args,
            }
        )
        return self

    def step(self, number: int, start: float, end: float) -> Script:
        return self.host("user_annotation", f"ProfilerStep#{number}", start, end)

    def launch(
        self, call: float, start: float, end: float, *, number: int, name: str = "gemm", stream: int = 7
    ) -> Script:
        self.host("cuda_runtime", "cudaLaunchKernel", call, call + 5, correlation=number)
        return self.device("kernel", name, start, end, stream=stream, correlation=number)


@pytest.fixture
def script() -> Script:
    """An empty trace to be filled."""
    return Script()


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Trace]:
    """Writes a script's events and reads them back as a trace."""

    def written(made: Script, **head: Any) -> Trace:
        path = tmp_path / "trace.json"
        path.write_text(json.dumps({"traceEvents": made.events, **head}))
        return read_kineto(path)

    return written
