"""Colours photographs: learns to give a grey patch its colours back."""

import torch
from sklearn.datasets import load_sample_images
from torch import nn


def patches(photo, size, count):
    rows = torch.randint(photo.shape[1] - size, (count,)).tolist()
    columns = torch.randint(photo.shape[2] - size, (count,)).tolist()
    return torch.stack([photo[:, r : r + size, c : c + size] for r, c in zip(rows, columns, strict=True)])


def main():
    torch.manual_seed(0)
    photo = torch.as_tensor(load_sample_images().images[0].copy()).permute(2, 0, 1).float().contiguous() / 255
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Upsample(scale_factor=2),
        nn.Conv2d(32, 3, 3, padding=1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(600):
        colours = patches(photo, 32, 8)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(colours.mean(1, keepdim=True)), colours)
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
