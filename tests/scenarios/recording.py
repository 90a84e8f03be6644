"""Records a scenario's scripts with the command that users type, and reads its report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from trainrx.app.analysing import store_analysis
from trainrx.profiler.report import Report, parse_report
from trainrx.profiler.store import RunFolder

from .truth import TORCHRUN, Truth

TRAINRX = Path(sys.executable).with_name("trainrx")
#: A scenario that needs longer than this has a fault of its own.
TIMEOUT_S = 300
#: Nothing is fetched.
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


class ScenarioFailed(Exception):
    """A script could not be recorded; the message ends with what it said."""


def record(script: Path, truth: Truth, runs: Path) -> Report:
    """Record one script in a folder of its own under ``runs``; its stray files go there too."""
    work = runs / "work"
    work.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [*truth.prefix, *_command(script, truth, runs)],
        cwd=work,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, said = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise ScenarioFailed(f"{script} had not ended after {TIMEOUT_S} s") from None
    if process.returncode != 0:
        lines = said.decode("utf-8", "replace").strip().splitlines()[-12:]
        raise ScenarioFailed(f"{script} ended with {process.returncode}:\n" + "\n".join(lines))
    return parse_report(output, source=str(script))


def reanalyse(runs: Path) -> list[Report]:
    """The reports of the runs that lie in a folder, diagnosed again, oldest first."""
    manifests = sorted(runs.glob("*/run.json"), key=lambda path: path.stat().st_ctime_ns)
    return [store_analysis(RunFolder(path.parent)) for path in manifests]


def _command(script: Path, truth: Truth, runs: Path) -> list[str]:
    options = ["profile", "--light", "--json", "--runs", str(runs), "--steps", str(truth.steps)]
    launcher = TORCHRUN if truth.distributed else ()
    return [str(TRAINRX), *options, *launcher, str(script)]
