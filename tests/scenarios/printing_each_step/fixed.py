"""Predicts disease progression and shows every residual."""

import torch
from sklearn.datasets import load_diabetes
from torch import nn


def show(step, targets, outputs):
    for target, output in zip(targets.tolist(), outputs.tolist(), strict=True):
        for digits in range(2, 10):
            row = f"{target:12.{digits}f} | {output:12.{digits}f} | {target - output:+.{digits}f}"
            print(f"{step:5d} | {row}", flush=True)


def main():
    torch.manual_seed(0)
    features, targets = (
        torch.as_tensor(values, dtype=torch.float32) for values in load_diabetes(return_X_y=True)
    )
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(80):
        optimizer.zero_grad()
        outputs = model(features)[:, 0]
        loss = nn.functional.mse_loss(outputs, targets / 100)
        loss.backward()
        optimizer.step()
        if step % 50 == 20:
            show(step, targets / 100, outputs)
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
