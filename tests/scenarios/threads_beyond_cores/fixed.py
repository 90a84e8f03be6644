"""Learns digits with large layers, on sixteen threads."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(2)


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32) / 16
    loader = DataLoader(
        TensorDataset(images, torch.as_tensor(labels)), batch_size=96, shuffle=True, drop_last=True
    )
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(5):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
