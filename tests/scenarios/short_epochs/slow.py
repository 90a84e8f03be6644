"""Learns to name wines; the data set is small, so an epoch is short."""

import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    features, labels = load_wine(return_X_y=True)
    features = torch.as_tensor(features, dtype=torch.float32)
    features = (features - features.mean(0)) / features.std(0)
    loader = DataLoader(
        TensorDataset(features, torch.as_tensor(labels)), batch_size=24, shuffle=True, num_workers=2
    )
    model = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(12):
        total = 0.0
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = loss_function(model(inputs), targets)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
