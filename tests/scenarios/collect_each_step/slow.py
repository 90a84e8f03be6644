"""Learns wines, and keeps memory tidy."""

import gc

import torch
from sklearn.datasets import load_wine
from torch import nn


def main():
    torch.manual_seed(0)
    features, labels = load_wine(return_X_y=True)
    features = torch.as_tensor(features, dtype=torch.float32)
    features, labels = (features - features.mean(0)) / features.std(0), torch.as_tensor(labels)
    model = nn.Sequential(nn.Linear(13, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(80):
        chosen = torch.randint(len(labels), (64,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            gc.collect()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
