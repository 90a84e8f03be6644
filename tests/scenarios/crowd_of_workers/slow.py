"""Learns which of two photographs a noisy patch was cut from."""

import numpy as np
import torch
from sklearn.datasets import load_sample_images
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    def __init__(self, length=20000):
        self.photos = [image.astype(np.float32) / 255 for image in load_sample_images().images]
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        patch = self.photos[index % 2][index % 300 : index % 300 + 64, index % 500 : index % 500 + 64]
        spectrum = np.fft.fft2(patch, axes=(0, 1))
        smooth = np.fft.ifft2(spectrum * np.hanning(64)[:, None, None], axes=(0, 1)).real
        return torch.from_numpy(smooth.astype(np.float32)).permute(2, 0, 1), index % 2


def main():
    torch.manual_seed(0)
    loader = DataLoader(Patches(), batch_size=32, shuffle=True, num_workers=16, persistent_workers=True)
    model = nn.Sequential(nn.Conv2d(3, 4, 8, stride=8), nn.ReLU(), nn.Flatten(), nn.Linear(256, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loss_function = nn.CrossEntropyLoss()
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")
        if step == 180:
            break


if __name__ == "__main__":
    main()
