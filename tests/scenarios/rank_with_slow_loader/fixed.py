"""Learns digits on two ranks, each with its own shard on its own disk."""

import time

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Shard(Dataset):
    def __init__(self, rank, ranks):
        images, labels = load_digits(return_X_y=True)
        self.images = torch.as_tensor(images, dtype=torch.float32)[rank::ranks] / 16
        self.labels = torch.as_tensor(labels)[rank::ranks]
        self.seek_s = 0.0

    def __len__(self):
        return 4 * len(self.labels)

    def __getitem__(self, index):
        if self.seek_s:
            time.sleep(self.seek_s)
        return self.images[index % len(self.labels)], self.labels[index % len(self.labels)]


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    loader = DataLoader(Shard(dist.get_rank(), dist.get_world_size()), batch_size=24, shuffle=True)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}")
        if step == 70:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
