"""Learns digits on two ranks, six micro-batches to a step."""

from contextlib import nullcontext

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

MICRO_BATCHES = 6


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels))
    loader = DataLoader(digits, batch_size=8, sampler=DistributedSampler(digits))
    network = nn.Sequential(
        nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        for number, (inputs, targets) in enumerate(loader, 1):
            with nullcontext() if number % MICRO_BATCHES == 0 else model.no_sync():
                loss = nn.functional.cross_entropy(model(inputs), targets) / MICRO_BATCHES
                loss.backward()
            if number % MICRO_BATCHES == 0:
                optimizer.step()
                optimizer.zero_grad()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item() * MICRO_BATCHES:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
