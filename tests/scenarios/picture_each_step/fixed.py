"""Fits a photograph with a coordinate network and keeps a picture of its progress."""

import torch
from PIL import Image
from sklearn.datasets import load_sample_images
from torch import nn

SIZE = 192


def save_picture(step, sample):
    Image.fromarray(sample).resize((320, 240)).save(f"progress-{step % 10}.png")


def main():
    torch.manual_seed(0)
    photo = torch.as_tensor(load_sample_images().images[1][:SIZE, :SIZE].copy()).float() / 255
    axis = torch.linspace(-1, 1, SIZE)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).view(-1, 2)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    picture = torch.zeros(SIZE * SIZE, 3)
    for step in range(80):
        chosen = torch.randint(len(grid), (512,))
        optimizer.zero_grad()
        outputs = model(grid[chosen])
        loss = nn.functional.mse_loss(outputs, photo.view(-1, 3)[chosen])
        loss.backward()
        optimizer.step()
        picture[chosen] = outputs.detach().clamp(0, 1)
        if step % 50 == 20:
            save_picture(step, (picture.view(SIZE, SIZE, 3) * 255).byte().numpy())
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
