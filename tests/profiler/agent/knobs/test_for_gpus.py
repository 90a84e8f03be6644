"""Knobs that are meant for GPUs are put on all the same, and tell what they met: no run of the tests has one."""

import json
import os

import pytest
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

SETTINGS = """
import json, os
import torch
from torch.utils.data import DataLoader, TensorDataset

def main():
    torch.cuda.empty_cache()
    loader = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4, num_workers=1)
    model = torch.nn.Linear(4, 1)
    for (x,) in loader:
        model(x).sum().backward()
    try:
        torch.nn.functional.scaled_dot_product_attention(*[torch.randn(1, 1, 4, 8)] * 3)
    except RuntimeError:  # a CPU has no such kernel
        pass
    backends = torch.backends.cuda
    print(json.dumps({
        "pinned": loader.pin_memory, "in_order": loader.in_order, "allocator": os.environ.get("PYTORCH_ALLOC_CONF"),
        "sdpa": [backends.flash_sdp_enabled(), backends.mem_efficient_sdp_enabled(), backends.math_sdp_enabled()],
    }))

if __name__ == "__main__":
    main()
"""
COMPILED = """
import json
import torch

asked = []
def compile(model, **options):
    asked.append(options)
    return model
torch.compile = compile
model = torch.nn.Sequential(torch.nn.Linear(4, 1))
model(torch.randn(2, 4)).sum().backward()
print(json.dumps(asked))
"""


def test_settings_for_gpus_are_made(run_with, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "max_split_size_mb:128")
    knobs = {
        "loader.pin_memory": "true", "loader.in_order": "false", "sdpa.mem_efficient": "true",
        "allocator.no_empty_cache": "true", "allocator.expandable_segments": "true",
    }  # fmt: skip
    # WHEN a script runs with them THEN it sees each, beside what the environment said before
    stdout, events = run_with(SETTINGS, knobs)
    assert json.loads(stdout) == {
        "pinned": True, "in_order": False, "allocator": "max_split_size_mb:128,expandable_segments:True",
        "sdpa": [False, True, False],
    }  # fmt: skip
    # AND each tells that it took, but the allocator's segments, for which there is no device
    told = {knob: events[knob][0] for knob in knobs}
    assert told.pop("allocator.expandable_segments") == ("not applied", "there is no CUDA device")
    assert {event for event, _ in told.values()} == {"applied"}
    assert os.environ["PYTORCH_ALLOC_CONF"] == "max_split_size_mb:128"


@pytest.mark.parametrize("mode", ["max-autotune", "reduce-overhead"])
def test_models_are_compiled_in_a_mode(run_with, mode: str):
    knob = f"compile.{mode.replace('-', '_')}"
    stdout, events = run_with(COMPILED, {knob: "true"})
    assert json.loads(stdout) == [{"mode": mode}]
    assert (
        events[knob] == [("applied", f"Sequential is compiled, mode={mode}")]
        or events[knob][0][0] == "applied"
    )


def test_the_compression_that_gloo_cannot_sum_is_torch_s_own():
    assert callable(default_hooks.bf16_compress_hook)
