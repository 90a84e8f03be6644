"""A script on a GPU that is none: Python stands in for ``torch.cuda``, and its device works on its own clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.profiler.analysis import analyse
from trainrx.profiler.recording import read_ranks
from trainrx.profiler.store import RunFolder
from trainrx.profiler.vocabulary import Kind, Stage

SCRIPT = """
    import os, time
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    now = time.perf_counter
    free = 0.0

    def launch(seconds):
        global free
        free = max(free, now()) + seconds

    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing
        def record(self):
            self.at = max(free, now())
        def query(self):
            return self.at <= now()
        def elapsed_time(self, end):
            return (end.at - self.at) * 1e3

    def no(*args, **kwargs):
        raise AssertionError("the recorder must not wait")

    cuda = torch.cuda
    pid = os.getpid()
    cuda.is_initialized = lambda: os.getpid() == pid
    cuda.is_current_stream_capturing = lambda: False
    cuda.get_device_name = lambda *_: "a device"
    cuda.Event, cuda.synchronize = Event, no
    cuda.reset_peak_memory_stats = cuda.empty_cache = cuda.mem_get_info = no
    cuda.current_device = lambda: 0
    properties = {"name": "a device", "total_memory": 2**30, "major": 9, "minor": 0}
    cuda.get_device_properties = lambda _: type("Properties", (), properties)

    def memory_stats_as_nested_dict(device):
        assert device == 0
        return {
            "allocated_bytes": {"all": {"current": 300 * 2**20, "peak": 500 * 2**20}},
            "reserved_bytes": {"all": {"current": 1000 * 2**20, "peak": 1000 * 2**20}},
            "inactive_split_bytes": {"all": {"current": 400 * 2**20}},
            "num_alloc_retries": 2,
            "num_ooms": 0,
        }

    cuda.memory_stats_as_nested_dict = memory_stats_as_nested_dict

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 2)
        def forward(self, x):
            launch(0.004)
            return self.inner(x)

    class Backward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()
        @staticmethod
        def backward(ctx, gradient):
            launch(0.009)
            return gradient

    class Update(torch.optim.SGD):
        def step(self, closure=None):
            launch(0.002)
            return super().step(closure)

    def item():
        time.sleep(max(free - now(), 0))

    def main():
        torch.manual_seed(0)
        data = [torch.randn(4) for _ in range(60)]
        model = Net()
        optimizer = Update(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(2):
            for x in DataLoader(data, 2, num_workers=int(_ == 1)):
                loss = Backward.apply(model(x)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                item()
                time.sleep(0.003)
        print(loss.item().hex())

    if __name__ == "__main__":
        main()
"""


def on_gpu(folder: Path) -> None:
    """Have the recording say that its model lay on a GPU."""
    for facts in folder.glob("ranks/*/facts.jsonl"):
        facts.write_text(facts.read_text().replace('"device": "cpu"', '"device": "cuda"'))


def test_a_step_that_waits_for_the_gpu_is_not_called_host_time(write_script, run_plain, run_recorded) -> None:
    # GIVEN a loop that hands 15 ms of work to its device in a moment, waits for it and then does 3 ms of Python
    script = write_script(SCRIPT)
    plain = run_plain(script)
    recorded, folder = run_recorded(script)
    assert recorded == plain and plain.exit_code == 0
    (rank,) = read_ranks(folder)
    assert rank.fault is None and len(rank.device) > 60
    on_gpu(folder)
    # WHEN analysed
    report = analyse(RunFolder(folder)).report
    # THEN the host's clock says host time, and the device's what it worked for
    host = {stage.name: stage.seconds_per_step * 1e3 for stage in report.stages}
    assert host[Stage.HOST] > 10 * host[Stage.BACKWARD]
    assert report.device_stages is not None
    ms = {stage.name: stage.seconds_per_step * 1e3 for stage in report.device_stages.stages}
    assert ms[Stage.BACKWARD] == pytest.approx(9, rel=0.2) and ms[Stage.FORWARD] == pytest.approx(4, rel=0.3)
    assert ms[Stage.HOST] < host[Stage.HOST] - 8
    # AND only the Python that the device waits for is called so
    found = next((finding for finding in report.findings if finding.kind is Kind.HOST_PYTHON), None)
    assert found is not None and found.ms_per_step is not None
    assert found.ms_per_step < host[Stage.HOST] - 8
    line = found.where[0].line
    assert line is not None and "sleep(0.003)" in script.read_text().splitlines()[line - 1]

    # AND its memory is known, with what training always holds in it
    use = report.memory_use
    assert use is not None and use.on_device and use.limit_bytes == 2**30
    sizes = {part.name: part.bytes for part in use.parts}
    weights = 4 * (4 * 2 + 2)
    assert (sizes["parameters"], sizes["gradients"], sizes["optimizer state"]) == (weights, weights, weights)
    assert sum(sizes.values()) == use.peak_bytes == 500 * 2**20
    full = next(finding for finding in report.findings if finding.kind is Kind.MEMORY_CAPACITY)
    assert full.cause == "fragmentation"
    assert report.memory is not None and report.memory.peak_reserved_bytes == 1000 * 2**20


def test_where_the_clock_is_not_read_the_report_says_why(write_script, run_recorded) -> None:
    script = write_script(SCRIPT.replace("return self.at <= now()", "return False"))
    _, folder = run_recorded(script)
    report = analyse(RunFolder(folder)).report
    assert (report.device_stages, report.device_stages_reason) == (None, "this run used no GPU")
    on_gpu(folder)
    report = analyse(RunFolder(folder)).report
    assert report.device_stages_reason == "no timed step was measured on the device"
