"""Learns digits under a pipeline of transforms."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Scale:
    def __call__(self, image):
        return image / 16.0


class Jitter:
    def __call__(self, image):
        return image + np.random.normal(0, 0.02, image.shape)


class Warp:
    def __init__(self):
        row, column = np.mgrid[:8, :8]
        self.rows = np.rint(row + np.sin(column / 2)).astype(int) % 8
        self.columns = np.rint(column + np.cos(row / 2)).astype(int) % 8

    def __call__(self, image):
        return image[self.rows, self.columns]


class Digits(Dataset):
    def __init__(self, transform):
        self.images, self.labels = load_digits(return_X_y=True)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.transform(self.images[index].reshape(8, 8))
        return torch.as_tensor(image, dtype=torch.float32)[None], int(self.labels[index])


def main():
    torch.manual_seed(0)
    digits = Digits(Compose([Scale(), Warp(), Jitter()]))
    loader = DataLoader(digits, batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(2):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
