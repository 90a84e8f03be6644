"""Learns digits and keeps a detailed log."""

import logging

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(filename="train.log", level=logging.DEBUG, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("train")


def describe(model):
    for name, parameter in model.named_parameters():
        for row in parameter.detach().flatten(1)[:120] if parameter.dim() > 1 else [parameter.detach()]:
            log.debug("%s norm %.5f", name, row.norm())


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32) / 16
    loader = DataLoader(TensorDataset(images, torch.as_tensor(labels)), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        for step, (inputs, targets) in enumerate(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            if step % 50 == 20:
                describe(model)
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
