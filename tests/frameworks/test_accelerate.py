"""A loop with Accelerate under ``accelerate launch``, unedited: accumulation, prefetching loaders, evaluation, saving."""

import sys

import pytest

from .conftest import TORCHRUN, seconds_of

pytest.importorskip("accelerate", reason="needs the package accelerate")

SCRIPT = """
    import torch
    from accelerate import Accelerator
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    def main():
        torch.manual_seed(0)
        accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
        data = TensorDataset(torch.randn(80, 8), torch.randn(80, 1))
        model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.Linear(16, 1))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        model, optimizer, loader, held_out = accelerator.prepare(
            model, optimizer, DataLoader(data, batch_size=4, shuffle=True), DataLoader(data, batch_size=16)
        )
        updates = 0
        for epoch in range(2):
            model.train()
            for inputs, targets in loader:
                with accelerator.accumulate(model):
                    loss = nn.functional.mse_loss(model(inputs), targets)
                    accelerator.backward(loss)
                    optimizer.step()
                    optimizer.zero_grad()
                    updates += accelerator.sync_gradients
                accelerator.print(loss.item().hex())
            model.eval()
            with torch.no_grad():
                total = sum(accelerator.gather_for_metrics(model(inputs)).sum() for inputs, _ in held_out)
            accelerator.print(float(total).hex())
            accelerator.save_state("saved")
        accelerator.print(updates)
        accelerator.end_training()

    if __name__ == "__main__":
        main()
"""
LAUNCH = (sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1", "--num_machines", "1",
          "--mixed_precision", "bf16", "--dynamo_backend", "no")  # fmt: skip


def test_launch(write_script, run_both) -> None:
    # GIVEN two epochs of 20 batches, two to an update, with an evaluation and a checkpoint after each
    script = write_script(SCRIPT)
    # WHEN recorded THEN every loss is the same to the last bit
    plain, recorded, report = run_both([*LAUNCH, str(script)])
    assert plain == recorded and "20" in plain and len(plain) == 43
    # AND the launcher is no rank, a step is an update, and what lies beside training is told apart
    assert len(report.ranks) == 1 and report.run.steps_recorded in (19, 20)
    stages = seconds_of(report)
    assert {"data_wait", "forward", "backward", "optimizer", "evaluation", "checkpoint"} <= set(stages)
    assert (report.setup["loader.batch_size"], report.setup["loader.sampler"]) == (4, "RandomSampler")
    assert report.batches_per_step is not None and report.batches_per_step >= 2


def test_two_ranks(write_script, run_both) -> None:
    # GIVEN the same script on two ranks, started as `accelerate launch` starts several processes: by torchrun
    script = write_script(SCRIPT)
    # WHEN recorded THEN the losses and the gathered sums are the same, and both ranks are there
    plain, recorded, report = run_both([*TORCHRUN, str(script)])
    assert plain == recorded and len(plain) == 2 * (10 + 1) + 1
    assert [rank.steps for rank in report.ranks] in ([9, 9], [10, 10])
    # AND the gradients' averaging, and what the evaluation gathers, is told apart from computing
    stages = seconds_of(report)
    assert {"data_wait", "forward", "communication", "optimizer", "evaluation"} <= set(stages)
    assert report.setup["world_size"] == 2 and report.lost_ranks == []
