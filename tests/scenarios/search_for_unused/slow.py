"""Learns digits on two ranks; the wrapper was copied from a project with branches."""

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
    blocks = [nn.Sequential(nn.Linear(128, 128), nn.Tanh()) for _ in range(60)]
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(64, 128), *blocks, nn.Linear(128, 10)), find_unused_parameters=True
    )
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
