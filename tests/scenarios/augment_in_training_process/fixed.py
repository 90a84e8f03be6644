"""Tells two photographs apart by augmented crops."""

import numpy as np
import torch
from PIL import Image, ImageFilter
from sklearn.datasets import load_sample_images
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, length=4000):
        self.photos = [Image.fromarray(image) for image in load_sample_images().images]
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        photo = self.photos[index % 2]
        left, top = index * 37 % 500, index * 53 % 290
        crop = photo.crop((left, top, left + 128, top + 128)).rotate(index % 30, Image.Resampling.BICUBIC)
        crop = crop.filter(ImageFilter.GaussianBlur(3))
        pixels = np.asarray(crop.resize((32, 32)), dtype=np.float32) / 255
        return torch.from_numpy(pixels).permute(2, 0, 1), index % 2


def main():
    torch.manual_seed(0)
    loader = DataLoader(Crops(), batch_size=32, shuffle=True, num_workers=2)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8 * 49, 32),
        nn.ReLU(),
        nn.Linear(32, 2),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loss_function = nn.CrossEntropyLoss()
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")
        if step == 80:
            break


if __name__ == "__main__":
    main()
