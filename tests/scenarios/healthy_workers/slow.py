"""Learns digits that two workers shift about at random, in time."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shifted(Dataset):
    def __init__(self):
        images, self.labels = load_digits(return_X_y=True)
        self.images = torch.as_tensor(images, dtype=torch.float32).view(-1, 8, 8) / 16

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index].roll(index % 3 - 1, 1)[None], int(self.labels[index])


def main():
    torch.manual_seed(0)
    loader = DataLoader(
        Shifted(), batch_size=64, shuffle=True, num_workers=1, persistent_workers=True, drop_last=True
    )
    model = nn.Sequential(
        nn.Conv2d(1, 48, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(48, 64, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 64, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(4):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
