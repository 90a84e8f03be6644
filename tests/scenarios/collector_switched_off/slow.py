"""Learns digits; each step is an object that knows its batch, as the batch knows it."""

import gc

import torch
from sklearn.datasets import load_digits
from torch import nn

gc.disable()


class Batch:
    def __init__(self, owner, inputs, targets):
        self.owner, self.inputs, self.targets = owner, inputs, targets


class Step:
    def __init__(self, model, images, labels):
        chosen = torch.randint(len(labels), (2048,))
        self.model, self.batch = model, Batch(self, images[chosen], labels[chosen])

    def loss(self):
        return nn.functional.cross_entropy(self.model(self.batch.inputs), self.batch.targets)


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images, labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for number in range(360):
        step = Step(model, images, labels)
        optimizer.zero_grad()
        loss = step.loss()
        loss.backward()
        optimizer.step()
        if number % 20 == 0:
            print(f"step {number} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
