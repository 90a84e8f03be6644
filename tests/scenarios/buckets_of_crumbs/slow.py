"""Learns digits on two ranks with a deep network."""

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    images, labels = load_digits(return_X_y=True)
    images, labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
    blocks = [nn.Sequential(nn.Linear(96, 96), nn.Tanh()) for _ in range(40)]
    network = nn.Sequential(nn.Linear(64, 96), *blocks, nn.Linear(96, 10))
    model = DistributedDataParallel(network, bucket_cap_mb=0.03)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(250):
        chosen = torch.randint(len(labels), (16,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 50 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
