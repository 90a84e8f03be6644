"""What the recorder costs a training loop of about 5 ms a step: run it as a script, it is no test.

The same loop runs in two processes at once, with and without the recorder's light mode, which take turns: a block of
steps here, a block there, on the same core. So a machine that slows down slows both, and the agent's own thread takes its
time from the training: the result is an upper bound. A pair of blocks gives the ratio of their median step times. Two
processes of the same program differ by a percent or two for as long as they live, by where their memory came to lie, so
that the pair is launched several times: the median over the launches counts, of each launch's median ratio. Wall time is
what a user waits; the CPU time of the training thread is told beside it, for machines on which others compute too. A
small model and a fixed amount of Python work make a step.

Usage: ``python tests/benchmarks/recorder_cost.py [--launches 15] [--pairs 20] [--steps 20] [--work 90000]``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from trainrx.profiler.agent.format import STEP
from trainrx.profiler.analysis import analyse
from trainrx.profiler.launch import Limits, record
from trainrx.profiler.recording import read_ranks
from trainrx.profiler.store import RunFolder

LOOP = """
import json, os, sys, time
import torch
from torch.utils.data import DataLoader

_, here, mine, other, first, pairs, steps, work = sys.argv
pairs, steps, work = int(pairs), int(steps), int(work)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
fifos = {name: os.open(os.path.join(here, name), os.O_RDWR) for name in (mine, other)}
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = iter(DataLoader(torch.randn((pairs + 1) * steps * 64, 64), 64))
blocks = []
for block in range(pairs + 1):
    if block or first == "False":
        os.read(fifos[mine], 1)
    times = []
    for _ in range(steps):
        wall, cpu = time.perf_counter(), time.thread_time()
        loss = model(next(loader)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sum(number * number for number in range(work))
        times.append((time.perf_counter() - wall, time.thread_time() - cpu))
    blocks.append(times)
    os.write(fifos[other], b".")
with open(os.path.join(here, mine + ".json"), "w") as file:
    json.dump(blocks[1:], file)
"""
WHOLE = Limits(steps=None, warmup=10, traced_steps=0, seconds=None, patience_s=None)
WALL, CPU = 0, 1
Blocks = list[list[list[float]]]


def take_turns(place: Path, pairs: int, steps: int, work: int) -> tuple[Blocks, Blocks, Path]:
    """Step times of the plain and the recorded loop, block by block, and the folder of the recording."""
    script = place / "loop.py"
    script.write_text(LOOP)
    for name in ("plain", "recorded"):
        os.mkfifo(place / name)

    def command(mine: str, other: str) -> list[str]:
        values = (str(place), mine, other, str(mine == "plain"), str(pairs), str(steps), str(work))
        return [sys.executable, str(script), *values]

    plain = subprocess.Popen(command("plain", "recorded"))
    run = record(command("recorded", "plain"), runs_dir=place / "runs", limits=WHOLE)
    plain.wait()
    read = [json.loads((place / f"{name}.json").read_text()) for name in ("plain", "recorded")]
    return read[0], read[1], run.path


@dataclass(frozen=True)
class Launch:
    """What one launch of both loops showed: by clock (`WALL`, `CPU`), recorded over plain and the plain step in seconds."""

    ratios: tuple[float, float]
    step_s: tuple[float, float]
    spans_per_step: float
    claimed_us: float


def launch(pairs: int, steps: int, work: int) -> Launch:
    """Let both loops run once."""
    with tempfile.TemporaryDirectory() as place:
        plain, recorded, folder = take_turns(Path(place), pairs, steps, work)
        spans = read_ranks(folder)[0].spans
        return Launch(
            ratios=(ratio(plain, recorded, WALL), ratio(plain, recorded, CPU)),
            step_s=(step_s(plain, WALL), step_s(plain, CPU)),
            spans_per_step=len(spans) / int((spans[:, 0] == STEP).sum()),
            claimed_us=claimed_us(folder),
        )


def ratio(plain: Blocks, recorded: Blocks, clock: int) -> float:
    """Recorded over plain: the median over pairs of blocks."""
    return median(
        median(step[clock] for step in there) / median(step[clock] for step in here)
        for here, there in zip(plain, recorded, strict=True)
    )


def step_s(blocks: Blocks, clock: int) -> float:
    """The median step."""
    return median(step[clock] for block in blocks for step in block)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="cost of the recorder's light mode in the loop")
    parser.add_argument("--launches", type=int, default=15, help="launches of both loops")
    parser.add_argument("--pairs", type=int, default=20, help="pairs of blocks in a launch")
    parser.add_argument("--steps", type=int, default=20, help="steps of a block")
    parser.add_argument("--work", type=int, default=90_000, help="sets the time of a step")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    launches = [launch(options.pairs, options.steps, options.work) for _ in range(options.launches)]
    spans = median(each.spans_per_step for each in launches)
    for clock, name in ((WALL, "wall"), (CPU, "CPU of the training thread")):
        found = [each.ratios[clock] for each in launches]
        step_us = median(each.step_s[clock] for each in launches) * 1e6
        cost_us = (median(found) - 1) * step_us
        low, _, high = quantiles(found, n=4)
        print(
            f"{name}: {step_us / 1e3:.2f} ms a step, median ratio {median(found):.4f} of {len(found)} launches (half of "
            f"them from {low:.4f} to {high:.4f}): {cost_us:.1f} µs per step, {cost_us / spans:.2f} µs per span"
        )
    claimed = median(each.claimed_us for each in launches)
    print(f"{spans:.1f} spans per step; the reports say about {claimed:.1f} µs per step")


def claimed_us(folder: Path) -> float:
    """What the run's own report says that recording cost, in µs per step."""
    return analyse(RunFolder(folder)).report.recorder.overhead_us_per_step or float("nan")


if __name__ == "__main__":
    main()
