"""What ``trainrx attach`` costs its target: run it as a script, it is no test.

Cost: one training loop goes on for ever, and is looked at every other stretch of a few seconds. py-spy stops a process
for each sample, and a stopped thread is neither on a core nor waiting for one: what the kernel accounts for neither is
the pause, whatever else the machine does. Its share with py-spy less its share in the stretch before, and the CPU time
of a step against that in the stretch before, make a pair; the medians over pairs count.

That its estimate comes near the recorder's is a test: `tests/profiler/attach/test_attach.py`.

Usage: ``python tests/benchmarks/attach.py [--pairs 9] [--seconds 4] [--rate 50]``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from trainrx.profiler.attach.attaching import RATE_HZ
from trainrx.profiler.pyspy import sample

SCRIPT = """
import logging, struct, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

what, stamps = sys.argv[1], open(sys.argv[2], "ab", buffering=0)
HIDDEN = 768 if what == "compute" else 64
logging.basicConfig(filename=sys.argv[2] + ".log", level=logging.INFO)

class Samples(Dataset):
    def __len__(self):
        return 1 << 20
    def __getitem__(self, index):
        rounds = 400 if what == "loading" else 1
        return torch.full((64,), float(sum(number * number % 7 for number in range(rounds)) % 5))

def main():
    model = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for inputs in DataLoader(Samples(), 64):
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if what == "host":
            for name, parameter in model.named_parameters():
                logging.info("%s %s", name, parameter.flatten()[:40].tolist())
        stamps.write(struct.pack("<q", time.perf_counter_ns()))

if __name__ == "__main__":
    main()
"""
#: What the script is bound by; it never sleeps by itself.
KINDS = ("loading", "compute", "host")


@contextmanager
def training(place: Path, kind: str) -> Iterator[tuple[int, Path]]:
    """The script running by itself, once it trains: its process number, and the file of its steps' ends."""
    stamps = place / f"{kind}.stamps"
    script = place / "loop.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(script), kind, str(stamps)])
    try:
        while not stamps.exists() or stamps.stat().st_size < 8 * 20:
            time.sleep(0.05)
        yield process.pid, stamps
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True)
class Stretch:
    """A look at the training thread: shares of wall time, and CPU seconds of a step."""

    paused_share: float
    step_cpu_s: float


@contextmanager
def stretch(pid: int, stamps: Path, found: list[Stretch]) -> Iterator[None]:
    """Account for the main thread of a process while the body runs."""
    before = accounts(pid, stamps)
    yield
    wall, on_core, waiting, steps = (later - earlier for later, earlier in zip(accounts(pid, stamps), before))
    found.append(Stretch(1 - (on_core + waiting) / wall, on_core / max(steps, 1) / 1e9))


def accounts(pid: int, stamps: Path) -> tuple[int, int, int, int]:
    """Wall time, time on a core and time waiting for one so far, in ns, and steps made."""
    on_core, waiting, _ = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()
    return time.perf_counter_ns(), int(on_core), int(waiting), stamps.stat().st_size // 8


def cost(place: Path, kind: str, pairs: int, seconds: float, rate_hz: int) -> tuple[list[float], list[float]]:
    """By pair: the share of time that py-spy pauses the thread, and the CPU time of a step over that without."""
    found: list[Stretch] = []
    with training(place, kind) as (pid, stamps):
        for _ in range(pairs):
            with stretch(pid, stamps, found):
                time.sleep(seconds)
            with stretch(pid, stamps, found):
                sample(pid, seconds=seconds, rate_hz=rate_hz, output=place / "stacks.json")
    pairs_found = list(zip(found[::2], found[1::2], strict=True))
    return (
        [looked.paused_share - alone.paused_share for alone, looked in pairs_found],
        [looked.step_cpu_s / alone.step_cpu_s for alone, looked in pairs_found],
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="cost of `trainrx attach`")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of stretches")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a stretch")
    parser.add_argument("--rate", type=int, default=RATE_HZ, help="samples a second")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as place:
            paused, step_cpu = cost(Path(place), kind, options.pairs, options.seconds, options.rate)
        print(
            f"{kind}: paused {spread([100 * share for share in paused])} % of the time, a step takes "
            f"{spread(step_cpu)} times the CPU time, in {len(paused)} pairs",
            flush=True,
        )


def spread(values: list[float]) -> str:
    """The median, and where half of the values lie."""
    low, middle, high = quantiles(values, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
