"""One run of a trial: what counts as a failure of it."""

import sys

import pytest

from trainrx.advisor.trial.arm import Script, run_arm
from trainrx.profiler.launch import Limits

TRAINING = """
    import atexit, os, sys
    import torch

    atexit.register(lambda: os._exit(3))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(int(sys.argv[1])):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("steps", "fails"), [(10_000, False), (12, True)])
def test_what_a_script_does_after_it_was_stopped_is_no_failure(write_script, tmp_path, steps, fails) -> None:
    # GIVEN a script whose end goes wrong, as that of ranks may that lose each other
    command = (sys.executable, str(write_script(TRAINING)), str(steps))
    limits = Limits(steps=10, warmup=2, traced_steps=0, seconds=None, patience_s=None)
    # WHEN it is stopped by the recorder, or comes to that end by itself
    arm = run_arm(Script(command, None, limits), {}, tmp_path / "runs")
    # THEN only what it did by itself counts
    assert (arm.failure is not None) is fails
    assert (arm.step_s is None) is fails


VALIDATING = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    train, held_out = (DataLoader(TensorDataset(torch.randn(400, 4)), batch_size=size) for size in (8, 40))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (inputs,) in train:
        model(inputs).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            for (inputs,) in held_out:
                model(inputs)
"""


def test_samples_are_those_of_batches_that_are_trained_on(write_script, tmp_path) -> None:
    # GIVEN a script that validates on ten large batches after each update WHEN it is run
    limits = Limits(steps=10, warmup=2, traced_steps=0, seconds=None, patience_s=None)
    arm = run_arm(
        Script((sys.executable, str(write_script(VALIDATING))), None, limits), {}, tmp_path / "runs"
    )
    # THEN its batches are those of the training
    assert arm.samples_per_batch == 8


def test_a_script_that_is_killed_is_told_to_be(write_script, tmp_path) -> None:
    killed = "import os, signal, torch\nprint('loading', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    limits = Limits(steps=10, warmup=2, traced_steps=0, seconds=None, patience_s=None)
    arm = run_arm(Script((sys.executable, str(write_script(killed))), None, limits), {}, tmp_path / "runs")
    assert arm.failure == "the script was killed by SIGKILL, most likely because memory ran out: loading"
