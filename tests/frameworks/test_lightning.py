"""The ``Trainer`` of Lightning, unedited: closures, accumulation, the sanity check, validation, checkpoints, bf16."""

import sys

import pytest

from .conftest import seconds_of

pytest.importorskip("lightning", reason="needs the package lightning")

SCRIPT = """
    import warnings
    warnings.simplefilter("ignore")
    import lightning
    import torch
    from lightning.pytorch.callbacks import ModelCheckpoint
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.Linear(16, 1))
        def training_step(self, batch, number):
            loss = self.inner(batch[0]).square().mean()
            print(loss.item().hex())
            return loss
        def validation_step(self, batch, number):
            self.log("validation", self.inner(batch[0]).square().mean())
        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)

    def main():
        lightning.seed_everything(0, verbose=False)
        data = TensorDataset(torch.randn(96, 8))
        trainer = lightning.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
            num_sanity_val_steps=2, val_check_interval=8, accumulate_grad_batches=2, precision="bf16-mixed",
            callbacks=[ModelCheckpoint("saved", every_n_train_steps=3)],
        )
        loaders = DataLoader(data, batch_size=4, shuffle=True), DataLoader(data, batch_size=32)
        trainer.fit(Model(), *loaders)
        print(trainer.global_step, float(trainer.callback_metrics["validation"]).hex())

    if __name__ == "__main__":
        main()
"""


def test_trainer(write_script, run_both) -> None:
    # GIVEN two epochs of 24 batches, two to an update, after a sanity check, with validation and checkpoints
    script = write_script(SCRIPT)
    # WHEN recorded THEN every loss is the same to the last bit
    plain, recorded, report = run_both([sys.executable, str(script)])
    assert plain == recorded and len(plain) == 49
    # AND a step is an update: the sanity check before the first is none
    assert any(line.startswith("24 ") for line in plain)
    assert report.run.steps_recorded in (23, 24)
    stages = seconds_of(report)
    assert {"data_wait", "forward", "backward", "optimizer", "evaluation", "checkpoint"} <= set(stages)
    assert report.setup["precision"] == "bf16"
