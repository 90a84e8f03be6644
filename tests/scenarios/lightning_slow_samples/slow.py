"""Classifies documentation pages with Lightning."""

import re
from collections import Counter
from pydoc_data.topics import topics

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCABULARY = [word for word, _ in Counter(re.findall("[a-z]+", " ".join(topics.values()))).most_common(256)]


class Pages(Dataset):
    def __init__(self):
        self.texts = sorted(topics.values())

    def __len__(self):
        return 20 * len(self.texts)

    def __getitem__(self, index):
        words = Counter(re.findall("[a-z]+", self.texts[index % len(self.texts)][:4000].lower()))
        return torch.tensor([float(words[word]) for word in VOCABULARY]), index % 4


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 4))

    def training_step(self, batch, number):
        counts, labels = batch
        return nn.functional.cross_entropy(self.model(counts), labels)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    lightning.seed_everything(0, verbose=False)
    trainer = lightning.Trainer(
        max_steps=70,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Classifier(), DataLoader(Pages(), batch_size=32))
    print(f"done after {trainer.global_step} steps")


if __name__ == "__main__":
    main()
