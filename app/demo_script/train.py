"""Trains a small convolutional network to tell pictures apart; every folder under --data is a class."""

import argparse
import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageEnhance
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """JPEG files in a folder per class, read and augmented when they are asked for."""

    def __init__(self, root, size):
        self.size = size
        self.classes = sorted(folder.name for folder in root.iterdir() if folder.is_dir())
        self.files = [
            (path, label)
            for label, name in enumerate(self.classes)
            for path in sorted((root / name).glob("*.jpg"))
        ]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        picture = self.augment(Image.open(path).convert("RGB"))
        pixels = np.asarray(picture, dtype=np.float32) / 255
        return torch.from_numpy((pixels - 0.5) / 0.25).permute(2, 0, 1), label

    def augment(self, picture):
        if random.random() < 0.5:
            picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        for enhancer in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
            picture = enhancer(picture).enhance(random.uniform(0.7, 1.3))
        return picture.resize((self.size, self.size), Image.Resampling.BICUBIC)


def make_model(classes):
    layers = []
    channels = 3
    for width in (16, 32, 64):
        layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("demo-data"))
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pictures = Pictures(args.data, args.size)
    loader = DataLoader(pictures, batch_size=args.batch_size, shuffle=True, num_workers=args.workers)
    model = make_model(len(pictures.classes)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loss_function = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        total, right = 0.0, 0
        for batch in loader:
            images, labels = (part.to(device) for part in batch)
            scores = model(images)
            loss = loss_function(scores, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
            right += (scores.argmax(1) == labels).sum().item()
        print(f"epoch {epoch + 1}: loss {total / len(pictures):.3f}, accuracy {right / len(pictures):.1%}")


if __name__ == "__main__":
    main()
