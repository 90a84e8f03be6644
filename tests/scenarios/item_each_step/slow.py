"""Learns digits and notes the loss of every step."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    loader = DataLoader(TensorDataset(images, torch.as_tensor(labels)), batch_size=48, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 64, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, right = [], []
    for epoch in range(3):
        for inputs, targets in loader:
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = nn.functional.cross_entropy(outputs, targets)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            right.append((outputs.argmax(1) == targets).float().mean().item())
        print(f"epoch {epoch} loss {sum(losses[-20:]) / 20:.3f} accuracy {sum(right[-20:]) / 20:.3f}")


if __name__ == "__main__":
    main()
