"""Learns digits on two ranks, with metrics over both."""

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def over_ranks(values):
    for value in values.values():
        dist.all_reduce(value)
    return {name: value / dist.get_world_size() for name, value in values.items()}


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images, labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(dist.get_rank())
    for step in range(80):
        chosen = torch.randint(len(labels), (256,))
        optimizer.zero_grad()
        outputs = model(images[chosen])
        loss = nn.functional.cross_entropy(outputs, labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            right = (outputs.argmax(1) == labels[chosen]).float().mean()
            sure = outputs.detach().softmax(1).amax(1).mean()
            norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            metrics = over_ranks({"loss": loss.detach().clone(), "right": right, "sure": sure, "norm": norm})
            if dist.get_rank() == 0:
                print(f"step {step}", {name: round(value.item(), 3) for name, value in metrics.items()})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
