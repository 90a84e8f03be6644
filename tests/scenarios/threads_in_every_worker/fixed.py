"""Learns digits that each worker blurs with matrix products."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Blurred(Dataset):
    def __init__(self):
        images, self.labels = load_digits(return_X_y=True)
        self.images = torch.as_tensor(images, dtype=torch.float32) / 16
        self.kernel = torch.eye(256) * 0.9 + 0.1 / 256

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        wide = self.images[index].repeat(4)[:, None].expand(-1, 48)
        return (self.kernel @ wide)[:64, 0], int(self.labels[index])


def use_all_cores(worker):
    torch.set_num_threads(1)


def main():
    torch.manual_seed(0)
    loader = DataLoader(
        Blurred(),
        batch_size=64,
        shuffle=True,
        num_workers=2,
        multiprocessing_context="spawn",
        persistent_workers=True,
        worker_init_fn=use_all_cores,
    )
    model = nn.Sequential(nn.Linear(64, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
