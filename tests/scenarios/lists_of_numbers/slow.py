"""Predicts disease progression from records kept as plain Python objects."""

import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self):
        features, targets = load_diabetes(return_X_y=True)
        self.records = [
            {"history": [list(map(float, row)) for _ in range(60)], "target": float(target)}
            for row, target in zip(features, targets, strict=True)
        ]

    def __len__(self):
        return 20 * len(self.records)

    def __getitem__(self, index):
        record = self.records[index % len(self.records)]
        return torch.tensor(record["history"]), torch.tensor(record["target"])


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Flatten(), nn.Linear(600, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.loader = DataLoader(
            Records(), batch_size=64, shuffle=True, num_workers=1, persistent_workers=True
        )

    def step(self, history, target):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(history)[:, 0], target / 100)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, steps):
        for number, (history, target) in enumerate(self.loader):
            loss = self.step(history, target)
            if number % 20 == 0:
                print(f"step {number} loss {loss:.3f}")
            if number == steps:
                break


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer().fit(80)
