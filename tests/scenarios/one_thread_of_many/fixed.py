"""Predicts digits from many random features."""

import torch
from sklearn.datasets import load_digits
from torch import nn


class Trainer:
    def __init__(self):
        images, labels = load_digits(return_X_y=True)
        self.images = torch.as_tensor(images, dtype=torch.float32) / 16
        self.labels = torch.as_tensor(labels)
        self.model = nn.Sequential(
            nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def step(self):
        chosen = torch.randint(len(self.labels), (256,))
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(self.images[chosen]), self.labels[chosen])
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, steps):
        for number in range(steps):
            loss = self.step()
            if number % 20 == 0:
                print(f"step {number} loss {loss:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer().fit(80)
