"""What `trainrx profile` takes beyond the script itself, from the command to its report: seconds and memory.

Run it as a script, it is no test. The same small training runs plain and recorded in turns, to its end both times. The
recorded run's extra seconds are the launcher's start, the agent's, the deep window, the analysis and the report; its
extra memory is what the training process grows by, and the launcher beside it with all that it started, as the largest
sum that was seen of proportional set sizes: a page that two processes share counts half for each.

Usage: ``python tests/benchmarks/end_to_end.py [--rounds 9] [--steps 60] [--workers 0]``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import psutil

LOOP = """
import sys
import torch
from torch.utils.data import DataLoader

if __name__ == "__main__":
    steps, workers = int(sys.argv[1]), int(sys.argv[2])
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(torch.randn(steps * 256, 256), 256, num_workers=workers):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TRAINRX = [sys.executable, "-c", "from trainrx.app.cli import main; main()"]
#: How often memory is looked at.
EVERY_S = 0.05
MB = 2**20


@dataclass(frozen=True)
class Cost:
    """Seconds of a command, and the largest sum of the sizes of its processes, in bytes."""

    seconds: float
    peak_bytes: int
    trainer_bytes: int


def cost_of(command: list[str], script: Path) -> Cost:
    """Run a command to its end; the trainer is the process of the script itself, or of a tree's the largest one."""
    started = time.perf_counter()
    process = psutil.Popen(command, cwd=script.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = trainer = 0
    while process.poll() is None:
        sizes = [_size(one) for one in _tree(process)]
        peak, trainer = max(peak, sum(sizes)), max(trainer, max(sizes, default=0))
        time.sleep(EVERY_S)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(
            f"{command} ended with {process.returncode}: {process.stderr.read().decode()[-500:]}"
        )
    return Cost(seconds, peak, trainer)


def _tree(process: psutil.Popen) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _size(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="seconds and memory of `trainrx profile` beyond the script")
    parser.add_argument("--rounds", type=int, default=9, help="pairs of a plain and a recorded run")
    parser.add_argument("--steps", type=int, default=60, help="steps of the training, all of which are run")
    parser.add_argument(
        "--full", action="store_true", help="let the recorded run have a report while it goes on"
    )
    parser.add_argument("--workers", type=int, default=0, help="loader workers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "train.py"
        script.write_text(LOOP)
        plain = [sys.executable, str(script), str(options.steps), str(options.workers)]
        recorded = [*TRAINRX, "profile", *_limits(options.steps, full=options.full), *plain[1:]]
        cost_of(recorded, script)
        pairs = [(cost_of(plain, script), cost_of(recorded, script)) for _ in range(options.rounds)]
    _tell("seconds", [there.seconds - here.seconds for here, there in pairs], "s")
    _tell(
        "memory, training process",
        [(there.trainer_bytes - here.trainer_bytes) / MB for here, there in pairs],
        "MB",
    )
    _tell(
        "memory, launcher and all", [(there.peak_bytes - here.peak_bytes) / MB for here, there in pairs], "MB"
    )
    print(f"the plain script: {median(here.seconds for here, _ in pairs):.2f} s")


def _limits(steps: int, *, full: bool) -> list[str]:
    """Options with which all steps of the script are recorded, a deep window of three among them."""
    return ["--full"] if full else ["--steps", str(steps - 10)]


def _tell(name: str, extra: list[float], unit: str) -> None:
    low, _, high = quantiles(extra, n=4)
    print(
        f"{name:26} {median(extra):+8.2f} {unit} beyond the script (half of {len(extra)} pairs from {low:.2f} to {high:.2f})"
    )


if __name__ == "__main__":
    main()
