"""Learns digits, and looks at the validation loss often."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        losses = [nn.functional.cross_entropy(model(inputs), targets) for inputs, targets in loader]
    model.train()
    return torch.stack(losses).mean().item()


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32) / 16
    train, held_out = random_split(TensorDataset(images, torch.as_tensor(labels)), [1400, 397])
    loader, validation = DataLoader(train, batch_size=32, shuffle=True), DataLoader(held_out, batch_size=64)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        for step, (inputs, targets) in enumerate(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            if step % 20 == 0:
                held_out_loss = validate(model, validation)
        print(f"epoch {epoch} loss {loss.item():.3f} validation {held_out_loss:.3f}")


if __name__ == "__main__":
    main()
