"""Predicts disease progression with a plain loop."""

import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    features, targets = (
        torch.as_tensor(values, dtype=torch.float32) for values in load_diabetes(return_X_y=True)
    )
    loader = DataLoader(TensorDataset(features, targets / 100), batch_size=110, shuffle=True)
    model = nn.Sequential(
        nn.Linear(10, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 1),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for epoch in range(20):
        total = torch.zeros(())
        for inputs, outputs in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs)[:, 0], outputs)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        print(f"epoch {epoch} loss {total.item() / len(loader):.3f}")


if __name__ == "__main__":
    main()
