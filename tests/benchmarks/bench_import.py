"""Speed and memory of reading traces, as ratios measured in one run. Not collected by pytest; run it by hand:

    python tests/benchmarks/bench_import.py [--hta-python PYTHON] [--large] [--ranks N]

Whole processes are timed, interleaved, and the median of their ratios is told, by the clock and by processor time.
PYTHON is an interpreter that has HolisticTraceAnalysis (installed by pip into a virtual environment of its own),
which then loads the same trace and computes its temporal, overlap and kernel breakdowns. ``--large`` reads a trace
of a gigabyte made by repeating that one, ``--ranks`` a folder of so many ranks made by repeating another.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from isal import igzip

from trainrx.profiler.ingest.kineto import read_kineto
from trainrx.profiler.timeline.rank_summary import summarise

TRACES = Path(__file__).resolve().parents[2] / "../shared/traces"
TRACE = TRACES / "AMD-AGI__TraceLens/h100_owlv2.json.gz"
RANK = TRACES / "facebookresearch__param/dlrm_8rank"
ROUNDS = 5
LARGE_BYTES = 1_000_000_000
#: What a user has: modules that were compiled when they were installed or first run.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
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
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def compare(name: str, other: list[str], ours: list[str]) -> None:
    cost_of(ours)
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


def large(runs: str) -> None:
    document = json.loads(igzip.open(TRACE).read())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.json"
        times = LARGE_BYTES // len(json.dumps(document)) + 1
        count = repeated(document, times, path)
        del document
        cost, size_mb = cost_of(import_of(path, runs)), path.stat().st_size / 2**20
        print(
            f"{size_mb:.0f} MB, {count} events: {cost.cpu_s:.1f} s of processor time, "
            f"{cost.peak_mb:.0f} MB at most, {cost.peak_mb / size_mb:.2f} times the file"
        )


def ranks(count: int, runs: str) -> None:
    files = sorted(RANK.glob("*.gz"))
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(count):
            text = igzip.open(files[rank % len(files)]).read()
            text = re.sub(rb'"rank":\s*\d+', b'"rank": %d' % rank, text, count=1)
            with igzip.open(Path(folder) / f"rank{rank}.json.gz", "wb", compresslevel=1) as file:
                file.write(text)
        started, peaks = time.perf_counter(), peak_of_each(import_of(Path(folder), runs))
        told = ", ".join(f"{peak:.0f}" for peak in sorted(peaks, reverse=True))
        print(f"{count} ranks: {time.perf_counter() - started:.1f} s, at most {told} MB in its processes")


def peak_of_each(command: list[str]) -> list[float]:
    """The largest resident size, in megabytes, of a command's process and each of its children."""
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    ended, peaks = threading.Event(), dict[int, int]()

    def watch() -> None:
        while not ended.wait(0.2):
            for one in (process, *process.children(recursive=True)):
                try:
                    peaks[one.pid] = max(peaks.get(one.pid, 0), one.memory_info().rss)
                except psutil.Error:
                    continue

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    code = process.wait()
    ended.set()
    if code:
        raise SystemExit(f"{command[0]} ended with {code}")
    return [peak / 2**20 for peak in peaks.values()]


def import_of(path: Path, runs: str) -> list[str]:
    return [sys.executable, "-c", OURS, "import", str(path), "--runs", runs]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hta-python")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--ranks", type=int, default=0)
    arguments = parser.parse_args()
    hta = arguments.hta_python
    with tempfile.TemporaryDirectory() as runs:
        ours = import_of(TRACE, runs)
        compare("json module, parsing alone", [sys.executable, "-c", JSON_MODULE, str(TRACE)], ours)
        if hta is not None:
            compare("HolisticTraceAnalysis", [hta, "-c", HTA, str(TRACE), runs], ours)
        if arguments.large:
            large(runs)
        if arguments.ranks:
            ranks(arguments.ranks, runs)
    linearity()


if __name__ == "__main__":
    main()
