"""Learns wines with a deep, narrow network."""

import torch
from sklearn.datasets import load_wine
from torch import nn


def main():
    torch.manual_seed(0)
    features, labels = load_wine(return_X_y=True)
    features = torch.as_tensor(features, dtype=torch.float32)
    features, labels = (features - features.mean(0)) / features.std(0), torch.as_tensor(labels)
    experts = nn.ModuleList(nn.Sequential(nn.Linear(13, 8), nn.Tanh(), nn.Linear(8, 3)) for _ in range(60))
    optimizer = torch.optim.AdamW(experts.parameters(), lr=1e-3, foreach=False)
    for step in range(80):
        optimizer.zero_grad()
        chosen = step % len(experts)
        outputs = sum(expert(features) for expert in experts[chosen : chosen + 4])
        loss = (
            nn.functional.cross_entropy(outputs, labels) + sum(p.sum() for p in experts.parameters()) * 1e-6
        )
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
