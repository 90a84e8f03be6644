"""What the recorder costs a training loop of about 5 ms a step: run it as a script, it is no test.

The same loop runs with and without the recorder's light mode, one after the other, so that a machine that slows down
slows both; each pair gives a ratio of their median step times, and the median of the ratios counts. The script times
its own steps, with and without alike. Usage: ``python tests/benchmarks/recorder_cost.py [--pairs 9] [--steps 300]``.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from trainrx.profiler.agent.format import STEP
from trainrx.profiler.analysis import analyse
from trainrx.profiler.launch import Limits, record
from trainrx.profiler.recording import read_ranks

LOOP = """
import json, sys, time
import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
width = int(sys.argv[3])
model = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(list(torch.randn(int(sys.argv[2]) * 64, 64)), 64)
marks = [time.perf_counter()]
for x in loader:
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    marks.append(time.perf_counter())
with open(sys.argv[1], "w") as file:
    json.dump([after - before for before, after in zip(marks, marks[1:])][10:], file)
"""
WHOLE = Limits(steps=None, warmup=10, traced_steps=0, seconds=None, patience_s=None)


def main() -> None:
    parser = argparse.ArgumentParser(description="cost of the recorder's light mode in the loop")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--width", type=int, default=2600, help="of the model: sets the time of a step")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    ratios: list[float] = []
    plain_s: list[float] = []
    spans_per_step = claimed_us = 0.0
    with tempfile.TemporaryDirectory() as place:
        script, times = Path(place, "loop.py"), Path(place, "times.json")
        script.write_text(LOOP)
        command = [sys.executable, str(script), str(times), str(options.steps), str(options.width)]
        for number in range(options.pairs):
            pair: dict[str, float] = {}
            for mode in ("plain", "recorded") if number % 2 else ("recorded", "plain"):
                if mode == "plain":
                    subprocess.run(command, check=True)
                else:
                    run = record(command, runs_dir=Path(place, "runs"), limits=WHOLE)
                    spans = read_ranks(run.path)[0].spans
                    spans_per_step = len(spans) / int((spans[:, 0] == STEP).sum())
                    claimed_us = analyse(run).report.recorder.overhead_us_per_step or float("nan")
                pair[mode] = statistics.median(json.loads(times.read_text()))
            plain_s.append(pair["plain"])
            ratios.append(pair["recorded"] / pair["plain"])
            print(
                f"pair {number + 1}: plain {pair['plain'] * 1e3:.3f} ms, ratio {ratios[-1]:.4f}", flush=True
            )
    step_us = statistics.median(plain_s) * 1e6
    cost_us = (statistics.median(ratios) - 1) * step_us
    low, high = min(ratios), max(ratios)
    print(
        f"median ratio {statistics.median(ratios):.4f} (from {low:.4f} to {high:.4f}) at {step_us / 1e3:.2f} ms a step"
    )
    print(
        f"{cost_us:.1f} µs per step, {cost_us / spans_per_step:.2f} µs per span ({spans_per_step:.1f} spans per step)"
    )
    print(f"the last report claims {claimed_us:.1f} µs per step at most")


if __name__ == "__main__":
    main()
