"""Scripts run with knobs and without recording, and a site that notes what a knob says and hands it modules at once."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.agent.options import Options
from trainrx.profiler.launch import BOOTSTRAP


class FakeSite:
    """Stands in for a knob's `Site`.

    Attributes:
        told: ``(event, detail)`` in order.
        modules: what `when_imported` hands out, by name.
        changes: what is to look at constructions.
        meets: what is to be called with each model.
    """

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.modules: dict[str, Any] = {}
        self.changes: list[Callable[..., None]] = []
        self.meets: list[Callable[[Any], None]] = []
        self.arounds: list[Callable[..., Any]] = []

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.told]

    def applied(self, detail: str) -> None:
        self.told.append(("applied", detail))

    def not_applied(self, reason: str) -> None:
        self.told.append(("not applied", reason))

    def when_imported(self, module: str, after: Callable[[Any], None]) -> None:
        if module in self.modules:
            after(self.modules[module])

    def on_construction(self, module: str, names: Any, change: Any, *, first: bool = False) -> None:
        self.changes.append(change)

    def on_model(self, meet: Callable[[Any], None]) -> None:
        self.meets.append(meet)

    def around_model(self, around: Callable[..., Any]) -> None:
        self.arounds.append(around)


@pytest.fixture
def site() -> Any:
    return FakeSite()


@pytest.fixture
def run_with(tmp_path):
    """Runs a script with knobs and without recording; gives its stdout and the events of each knob."""

    def run(script, knobs, *, launcher=(), expect=0):
        path = tmp_path / "script.py"
        path.write_text(script)
        run_dir = tmp_path / "run"
        run_dir.mkdir()
        options = Options(run_dir=str(run_dir), record=False, knobs=knobs)
        environment = {**os.environ, "PYTHONPATH": str(BOOTSTRAP), "TRAINRX_AGENT": options.to_environment()}
        done = subprocess.run(
            [sys.executable, *launcher, str(path)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == expect, done.stderr
        return done.stdout, events(run_dir)

    return run


def events(run_dir: Path):
    found = defaultdict(list)
    for file in run_dir.glob("knobs/*.jsonl"):
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["event"] != "installed":
                found[event["knob"]].append((event["event"], event["detail"]))
    return dict(found)
