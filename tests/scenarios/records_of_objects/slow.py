"""Learns from visits of a shop, of which every customer has many; workers pick them out."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Visits(Dataset):
    def __init__(self, customers=11_000, visits=400):
        dice = random.Random(0)
        self.customers = [[dice.random() for _ in range(visits)] for _ in range(customers)]

    def __len__(self):
        return len(self.customers)

    def __getitem__(self, index):
        visits = self.customers[index]
        return torch.tensor(visits[:64]), torch.tensor(float(sum(visits) > len(visits) / 2))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Visits(), batch_size=96, shuffle=True, num_workers=2)
    model = nn.Sequential(
        nn.Linear(64, 1536), nn.ReLU(), nn.Linear(1536, 1536), nn.ReLU(), nn.Linear(1536, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, (visits, often) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(visits)[:, 0], often)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
