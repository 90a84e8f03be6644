"""Learns digits in a class that keeps its history."""

import torch
from sklearn.datasets import load_digits
from torch import nn


class Trainer:
    def __init__(self):
        torch.manual_seed(0)
        images, labels = load_digits(return_X_y=True)
        self.images, self.labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
        self.encoder = nn.Sequential(nn.Linear(64, 1024), nn.ReLU())
        self.head = nn.Linear(1024, 10)
        self.optimizer = torch.optim.SGD([*self.encoder.parameters(), *self.head.parameters()], lr=0.05)
        self.history = []

    def step(self):
        chosen = torch.randint(len(self.labels), (512,))
        self.optimizer.zero_grad()
        features = self.encoder(self.images[chosen])
        loss = nn.functional.cross_entropy(self.head(features), self.labels[chosen])
        loss.backward()
        self.optimizer.step()
        self.history.append((loss, features))

    def fit(self, steps):
        for number in range(steps):
            self.step()
            if number % 20 == 0:
                print(f"step {number} loss {self.history[-1][0].item():.3f}")


if __name__ == "__main__":
    Trainer().fit(160)
