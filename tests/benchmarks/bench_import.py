"""Speed and memory of reading traces, as ratios measured in one run. Not collected by pytest; run it by hand:

    python tests/benchmarks/bench_import.py [--hta-python PYTHON]

Whole processes are timed, interleaved, and the median of their ratios is told. PYTHON is an interpreter that has
HolisticTraceAnalysis, which then loads the same trace and computes its temporal, overlap and kernel breakdowns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from isal import igzip

from trainrx.profiler.ingest.kineto import read_kineto
from trainrx.profiler.timeline.rank_summary import summarise

TRACE = Path(__file__).resolve().parents[2] / "../shared/traces/AMD-AGI__TraceLens/h100_owlv2.json.gz"
ROUNDS = 5
OURS = "import sys; sys.argv[0] = 'trainrx'; from trainrx.app.cli import main; main()"
JSON_MODULE = "import gzip, json, sys; json.loads(gzip.open(sys.argv[1]).read())"
HTA = """
import sys, warnings
warnings.filterwarnings("ignore")
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=sys.argv[2])
analysis.get_temporal_breakdown(visualize=False)
analysis.get_comm_comp_overlap(visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
"""


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def cost_of(command: list[str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def compare(name: str, other: list[str], ours: list[str]) -> None:
    pairs = [(cost_of(other), cost_of(ours)) for _ in range(ROUNDS)]
    for what in ("wall_s", "cpu_s", "peak_mb"):
        ratio = statistics.median(getattr(a, what) / getattr(b, what) for a, b in pairs)
        theirs, mine = (statistics.median(getattr(pair[side], what) for pair in pairs) for side in (0, 1))
        print(f"{name:34} {what:8} {theirs:9.2f} against {mine:8.2f}   ratio {ratio:5.2f}")


def repeated(document: dict[str, object], times: int, path: Path) -> int:
    events = document["traceEvents"]
    assert isinstance(events, list)
    shifted = [
        event | {"ts": event["ts"] + 2e6 * n} for n in range(times) for event in events if "ts" in event
    ]
    path.write_text(json.dumps(document | {"traceEvents": shifted}))
    return len(shifted)


def linearity() -> None:
    document = json.loads(igzip.open(TRACE).read())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        for times in (1, 2, 4):
            count = repeated(document, times, path)
            started = time.process_time()
            summarise(read_kineto(path))
            spent = time.process_time() - started
            print(
                f"read and summarise {count:8} events   {spent / count * 1e6:6.2f} us of processor time per event"
            )


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hta-python")
    hta = arguments.parse_args().hta_python
    with tempfile.TemporaryDirectory() as runs:
        ours = [sys.executable, "-c", OURS, "import", str(TRACE), "--runs", runs]
        compare("json module, parsing alone", [sys.executable, "-c", JSON_MODULE, str(TRACE)], ours)
        if hta is not None:
            compare("HolisticTraceAnalysis", [hta, "-c", HTA, str(TRACE), runs], ours)
    linearity()


if __name__ == "__main__":
    main()
