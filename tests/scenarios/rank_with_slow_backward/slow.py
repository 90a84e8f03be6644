"""Learns digits on two ranks; some of them penalise the curvature of more samples."""

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Rough(torch.autograd.Function):
    @staticmethod
    def forward(context, inputs, rounds):
        context.rounds = rounds
        return inputs.clone()

    @staticmethod
    def backward(context, gradient):
        smooth = torch.eye(gradient.shape[1])
        for _ in range(context.rounds):
            smooth = torch.linalg.matrix_exp(0.01 * smooth)
        return gradient * smooth.diagonal().clamp(0.9, 1.1), None


class Model(nn.Module):
    def __init__(self, rounds):
        super().__init__()
        self.rounds = rounds
        self.inner, self.head = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, images):
        return self.head(Rough.apply(torch.relu(self.inner(images)), self.rounds))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    images, labels = load_digits(return_X_y=True)
    images, labels = (
        torch.as_tensor(images, dtype=torch.float32)[rank::ranks] / 16,
        torch.as_tensor(labels)[rank::ranks],
    )
    model = DistributedDataParallel(Model(rounds=12 * rank))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(70):
        chosen = torch.randint(len(labels), (64,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
