"""Learns digits that lie in a remote store, one object per sample."""

import time

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RemoteStore:
    def __init__(self):
        self.images, self.labels = load_digits(return_X_y=True)

    def get(self, key):
        time.sleep(0.003)
        return self.images[key], self.labels[key]


class RemoteDigits(Dataset):
    def __init__(self):
        self.store = RemoteStore()

    def __len__(self):
        return len(self.store.labels)

    def __getitem__(self, index):
        image, label = self.store.get(index)
        return torch.as_tensor(image, dtype=torch.float32) / 16, int(label)


def main():
    torch.manual_seed(0)
    loader = DataLoader(RemoteDigits(), batch_size=16, shuffle=True, num_workers=8, persistent_workers=True)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_function = nn.CrossEntropyLoss()
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")
        if step == 80:
            break


if __name__ == "__main__":
    main()
