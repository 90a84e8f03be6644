import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from trainrx.profiler.agent.options import Options
from trainrx.profiler.launch import BOOTSTRAP


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
