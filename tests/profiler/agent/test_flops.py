"""Counting the operations of one step: right, once, and without a trace in what the script computes."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from trainrx.profiler.agent.crossings import Crossings
from trainrx.profiler.agent.flops import FlopCount
from trainrx.profiler.agent.options import Options
from trainrx.profiler.analysis import analyse
from trainrx.profiler.launch import Limits, record
from trainrx.profiler.recording import read_ranks
from trainrx.profiler.vocabulary import RunStatus


class Folder:
    def __init__(self) -> None:
        self.facts: list[dict[str, Any]] = []

    def fact(self, name: str, **values: Any) -> None:
        assert name == "flops"
        self.facts.append(values)


class Recorder:
    """Stands in for the recorder."""

    def __init__(self) -> None:
        self.folder = Folder()
        self.traced = False
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = torch.nn.Linear(8, 4)
        self.drop = torch.nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.conv(x).flatten(2).transpose(1, 2)
        mixed, _ = self.attention(tokens, tokens, tokens, need_weights=False)
        return self.head(self.drop(mixed).mean(1))


def trained(count: FlopCount | None, recorder: Recorder, steps: int = 4) -> list[torch.Tensor]:
    """Losses and the last weights of a small training, with counting between its steps."""
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    seen: list[torch.Tensor] = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3, 8, 8)).pow(2).mean()
        loss.backward()
        optimizer.step()
        seen.append(loss.detach().clone())
        if count is not None:
            count.at_step(recorder, step + 1)  # type: ignore[arg-type]
    return [*seen, *(parameter.detach().clone() for parameter in model.parameters())]


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had been compiled in this process yet."""
    monkeypatch.setattr("torch._dynamo.utils.counters", {})


def test_results_are_bitwise_the_same_and_one_step_is_counted() -> None:
    # GIVEN a training with convolution, attention, dropout and AdamW
    recorder = Recorder()
    alone = trained(None, recorder)
    # WHEN the operations of its third step are counted
    counted = trained(FlopCount(2), recorder)
    # THEN it computes the same to the bit, and one count is told
    assert all(torch.equal(a, b) for a, b in zip(alone, counted, strict=True))
    (fact,) = recorder.folder.facts
    assert fact["step"] == 3 and fact["flops"] == sum(fact["by_operator"].values())
    assert torch._C._len_torch_dispatch_stack() == 0 and not recorder.traced


def test_a_fault_in_looking_for_copies_leaves_the_count_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, undisturbed = Recorder(), Recorder()
    trained(FlopCount(2), undisturbed)

    def broken(self: Crossings, *args: Any) -> None:
        raise AttributeError("no device")

    monkeypatch.setattr(Crossings, "saw", broken)
    trained(FlopCount(2), recorder)
    assert recorder.folder.facts == undisturbed.folder.facts
    assert len(recorder.notes) == 1 and "no device" in recorder.notes[0]


def test_it_counts_as_torch_does_and_attention_on_the_cpu_too() -> None:
    recorder = Recorder()
    trained(FlopCount(2), recorder)
    by_operator = recorder.folder.facts[0]["by_operator"]
    with FlopCounterMode(display=False) as reference:
        trained(None, recorder, steps=1)
    ours = sum(flops for name, flops in by_operator.items() if "for_cpu" not in name)
    assert ours == reference.get_total_flops()
    # 2 matrices a head of 64 x 64 x 4 going forward, 5 going backward; batch and heads are 2
    attention = 2 * 2 * 2 * 64 * 64 * 4
    cpu = {name.rpartition("cpu")[2]: flops for name, flops in by_operator.items() if "for_cpu" in name}
    assert cpu in ({"": 2 * attention, "_backward": 5 * attention}, {})


def test_without_a_deep_window_nothing_is_counted() -> None:
    recorder = Recorder()
    trained(FlopCount(Options(run_dir="", traced_steps=0).flops_after(2)), recorder)
    assert recorder.folder.facts == []
    assert Options(run_dir="", traced_steps=3).flops_after(45) == 48 and Options(run_dir="").deep_steps == 4


def test_a_compiled_model_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch._dynamo.utils.counters", {"frames": {"total": 3}})
    recorder = Recorder()
    trained(FlopCount(2), recorder)
    assert "torch.compile" in recorder.folder.facts[0]["reason"] and len(recorder.folder.facts) == 1


class Passing(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_a_mode_of_the_scripts_own_is_left_alone() -> None:
    recorder = Recorder()
    with Passing():
        trained(FlopCount(2), recorder)
    assert "mode of the script's own" in recorder.folder.facts[0]["reason"]


def test_a_mode_entered_within_the_counted_step_goes_first() -> None:
    # GIVEN counting, and a mode of the script's that it enters in that step and keeps over the next cut
    recorder, count = Recorder(), FlopCount(1)
    assert count.at_step(recorder, 1)  # type: ignore[arg-type]
    own = Passing()
    own.__enter__()
    # WHEN the step ends THEN ours stays below it until the script has left its own
    assert not count.at_step(recorder, 2) and torch._C._len_torch_dispatch_stack() == 2  # type: ignore[arg-type]
    own.__exit__(None, None, None)
    assert count.at_step(recorder, 3) and torch._C._len_torch_dispatch_stack() == 0  # type: ignore[arg-type]


def test_a_fault_of_a_formula_is_told_and_the_training_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> int:
        raise ValueError("a shape of another kind")

    monkeypatch.setattr("trainrx.profiler.agent.flops._formulas", lambda: {torch.ops.aten.addmm: broken})
    recorder = Recorder()
    assert len(trained(FlopCount(2), recorder)) > 4
    assert "a shape of another kind" in recorder.folder.facts[0]["reason"]


def test_a_fault_on_the_way_in_is_told_and_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainrx.profiler.agent.flops._make_mode", lambda: 1 / 0)
    recorder = Recorder()
    trained(FlopCount(2), recorder)
    assert len(recorder.folder.facts) == 1 and "ZeroDivisionError" in recorder.folder.facts[0]["reason"]


def test_abandoning_takes_the_mode_off_its_own_thread_only() -> None:
    recorder, count = Recorder(), FlopCount(1)
    count.at_step(recorder, 1)  # type: ignore[arg-type]
    other = threading.Thread(target=count.abandon)
    other.start()
    other.join()
    assert torch._C._len_torch_dispatch_stack() == 1
    count.abandon()
    assert torch._C._len_torch_dispatch_stack() == 0


SCRIPT = """
import os, torch, torch.distributed as dist
os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1"}
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 16)).sum()
    loss.backward()
    optimizer.step()
print(loss.item(), model.module.weight.sum().item())
dist.destroy_process_group()
"""


def test_under_data_parallelism_the_output_is_the_same_and_the_step_is_counted(tmp_path: Path) -> None:
    # GIVEN a script under DDP
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script)]
    alone = subprocess.run(command, capture_output=True, text=True, check=True)
    # WHEN it is recorded to its end with the deep window
    limits = Limits(steps=None, warmup=1, traced_steps=1, seconds=None)
    out = tmp_path / "out"
    with out.open("w") as file:
        run = record([*command], runs_dir=tmp_path / "runs", limits=limits, stdout=file)
    # THEN it prints the same
    assert (run.manifest.status, out.read_text()) == (RunStatus.FINISHED, alone.stdout)
    # AND forward and the weights' gradient of one step are counted
    report = analyse(run).report
    assert report.compute is not None and report.compute.flops_per_step == 2 * (2 * 4 * 16 * 8)
    assert len(read_ranks(run.path)[0].facts["flops"]) == 1
