"""Learns digits on two ranks and averages gradients itself."""

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn


def average_gradients(model):
    gradients = [parameter.grad for parameter in model.parameters()]
    joined = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(joined)
    joined /= dist.get_world_size()
    for gradient, part in zip(gradients, joined.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images, labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
    blocks = [nn.Sequential(nn.Linear(48, 48), nn.Tanh()) for _ in range(30)]
    model = nn.Sequential(nn.Linear(64, 48), *blocks, nn.Linear(48, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(dist.get_rank())
    for step in range(70):
        chosen = torch.randint(len(labels), (16,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        average_gradients(model)
        optimizer.step()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
