"""Learns digits with Lightning."""

import lightning
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Digits(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def loss(self, batch):
        inputs, targets = batch
        return nn.functional.cross_entropy(self.model(inputs), targets)

    def training_step(self, batch, number):
        return self.loss(batch)

    def validation_step(self, batch, number):
        self.log("validation", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    lightning.seed_everything(0, verbose=False)
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels))
    train, held_out = random_split(digits, [1280, 517])
    trainer = lightning.Trainer(
        max_steps=70,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        val_check_interval=30,
    )
    trainer.fit(Digits(), DataLoader(train, batch_size=32, shuffle=True), DataLoader(held_out, batch_size=32))
    print(f"validation {trainer.callback_metrics['validation']:.3f}")


if __name__ == "__main__":
    main()
