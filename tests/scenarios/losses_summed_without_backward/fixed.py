"""Learns digits and adds up a regularity loss that it looks at later."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32) / 16
    loader = DataLoader(
        TensorDataset(images, torch.as_tensor(labels)), batch_size=128, shuffle=True, drop_last=True
    )
    model = nn.Sequential(nn.Linear(64, 1024), nn.Tanh(), nn.Linear(1024, 512), nn.Tanh(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    smoothness = torch.zeros(())
    for epoch in range(10):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                shifted = model(inputs.roll(1, 1))
            smoothness = smoothness + shifted.softmax(1).max(1).values.mean()
        print(f"epoch {epoch} loss {loss.item():.3f} smoothness {smoothness.item():.3f}")


if __name__ == "__main__":
    main()
