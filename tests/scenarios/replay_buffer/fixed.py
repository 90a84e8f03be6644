"""Learns digits from a buffer of past samples that it draws from at random."""

import torch
from sklearn.datasets import load_digits
from torch import nn

CAPACITY = 12_700_000


class ReplayBuffer:
    def __init__(self):
        self.samples = torch.from_file("samples.bin", shared=True, size=CAPACITY * 64).view(CAPACITY, 64)
        self.labels = torch.zeros(CAPACITY, dtype=torch.uint8)
        self.size = 0

    def add(self, samples, labels):
        end = self.size + len(samples)
        self.samples[self.size : end], self.labels[self.size : end] = samples, labels
        self.size = end

    def draw(self, count):
        chosen = torch.randint(self.size, (count,))
        return self.samples[chosen], self.labels[chosen].long()


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    buffer = ReplayBuffer()
    buffer.add(torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels, dtype=torch.uint8))
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(200):
        samples, targets = buffer.draw(192)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(samples), targets)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
