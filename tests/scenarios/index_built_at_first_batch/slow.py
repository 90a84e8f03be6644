"""Learns digits; the data set prepares itself when it is first asked."""

import time

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self):
        self.images = self.labels = None

    def __len__(self):
        return 1797

    def prepare(self):
        images, labels = load_digits(return_X_y=True)
        time.sleep(1.5)
        self.images = torch.as_tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
        self.labels = torch.as_tensor(labels)

    def __getitem__(self, index):
        if self.images is None:
            self.prepare()
        return self.images[index], self.labels[index]


def main():
    torch.manual_seed(0)
    loader = DataLoader(Digits(), batch_size=64, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(1, 64, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 64, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    step = 0
    for epoch in range(3):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            step += 1
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
