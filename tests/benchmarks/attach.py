"""What ``trainrx attach`` costs its target, and how near its estimate comes to the recorder's: a script, no test.

Cost: one training loop goes on for ever, and is looked at every other stretch of a few seconds. A stretch with py-spy and
the one before it make a pair; the ratio of their median step times is free of what else the machine does, as far as that
lasts longer than a pair. The median of the ratios counts.

Agreement: four scripts, each bound by something else, are recorded, and then attached to while they run unrecorded. What
counts is by how many points of the step a stage's share differs.

Usage: ``python tests/benchmarks/attach.py [--pairs 9] [--seconds 4]``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import numpy as np

from trainrx.profiler.analysis import analyse
from trainrx.profiler.attach import attach
from trainrx.profiler.attach.attaching import RATE_HZ
from trainrx.profiler.attach.pyspy import sample
from trainrx.profiler.launch import Limits, record
from trainrx.profiler.vocabulary import Stage

SCRIPT = """
import logging, struct, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

what, until, stamps = sys.argv[1], time.monotonic() + float(sys.argv[2]), open(sys.argv[3], "ab", buffering=0)
HIDDEN = 768 if what == "compute" else 64
logging.basicConfig(filename=sys.argv[3] + ".log", level=logging.INFO)

class Samples(Dataset):
    def __len__(self):
        return 1 << 20
    def __getitem__(self, index):
        rounds = {"loading": 400, "workers": 400}.get(what, 1)
        return torch.full((64,), float(sum(number * number % 7 for number in range(rounds)) % 5))

def main():
    model = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for inputs in DataLoader(Samples(), 64, num_workers=int(what == "workers")):
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if what == "host":
            for name, parameter in model.named_parameters():
                logging.info("%s %s", name, parameter.flatten()[:40].tolist())
        stamps.write(struct.pack("<q", time.perf_counter_ns()))
        if time.monotonic() > until:
            break

if __name__ == "__main__":
    main()
"""
KINDS = ("loading", "workers", "compute", "host")
#: py-spy needs a moment to find its way in.
SETTLE_S = 1.0


@contextmanager
def training(place: Path, kind: str, seconds: float) -> Iterator[tuple[int, Path]]:
    """The script running by itself, once it trains: its process number, and the file of its steps' ends."""
    stamps = place / f"{kind}.stamps"
    process = subprocess.Popen(command(place, kind, seconds, stamps))
    try:
        while not stamps.exists() or stamps.stat().st_size < 8 * 20:
            time.sleep(0.05)
        yield process.pid, stamps
    finally:
        process.terminate()
        process.wait()


def command(place: Path, kind: str, seconds: float, stamps: Path) -> list[str]:
    """How the script is started."""
    script = place / "loop.py"
    script.write_text(SCRIPT)
    return [sys.executable, str(script), kind, str(seconds), str(stamps)]


def cost(place: Path, kind: str, pairs: int, seconds: float) -> list[float]:
    """Median step time with py-spy over the one without, by pair of stretches."""
    stretches: list[tuple[int, int]] = []
    with training(place, kind, 1e6) as (pid, stamps):
        for _ in range(pairs):
            start = time.perf_counter_ns()
            time.sleep(seconds + SETTLE_S)
            stretches.append((start, time.perf_counter_ns()))
            start = time.perf_counter_ns()
            sample(pid, seconds=seconds + SETTLE_S, rate_hz=RATE_HZ, output=place / "stacks.json")
            stretches.append((start, time.perf_counter_ns()))
        ends = np.fromfile(stamps, "<i8")
    steps = [median_step(ends, start + int(SETTLE_S * 1e9), end) for start, end in stretches]
    return [looked_at / alone for alone, looked_at in zip(steps[::2], steps[1::2], strict=True)]


def median_step(ends: np.ndarray, start: int, end: int) -> float:
    """Of the steps within a stretch, in ns."""
    return float(np.median(np.diff(ends[(ends > start) & (ends < end)])))


def differences(place: Path, kind: str, seconds: float) -> dict[Stage, float]:
    """By how many points the estimate differs from what the recorder measures, by stage."""
    whole = Limits(steps=None, warmup=10, traced_steps=0, seconds=None, patience_s=None)
    run = record(command(place, kind, seconds, place / "recorded"), runs_dir=place / "runs", limits=whole)
    measured = {stage.name: stage.share for stage in analyse(run).report.stages}
    with training(place, kind, 1e6) as (pid, _):
        estimate = attach(pid, seconds=seconds, runs_dir=place / "runs").report().estimate
    assert estimate is not None
    estimated = {stage.name: stage.share for stage in estimate.stages}
    return {
        stage: 100 * (estimated.get(stage, 0.0) - measured.get(stage, 0.0))
        for stage in Stage
        if stage in measured or stage in estimated
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="cost and agreement of `trainrx attach`")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of stretches")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a stretch")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as place:
            off = differences(Path(place), kind, options.seconds)
        worst = max(off, key=lambda stage: abs(off[stage]))
        told = ", ".join(f"{stage.label} {points:+.1f}" for stage, points in off.items())
        print(f"{kind}: off by at most {abs(off[worst]):.1f} points ({told})", flush=True)
    for kind in KINDS[:3]:
        with tempfile.TemporaryDirectory() as place:
            found = cost(Path(place), kind, options.pairs, options.seconds)
        low, middle, high = quantiles(found, n=4)
        print(
            f"{kind}: step {middle:.3f} times as long while py-spy looks, median of {len(found)} pairs "
            f"(half of them from {low:.3f} to {high:.3f}; all: {', '.join(f'{ratio:.2f}' for ratio in found)})",
            flush=True,
        )


if __name__ == "__main__":
    main()
