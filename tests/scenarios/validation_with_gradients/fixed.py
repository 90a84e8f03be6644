"""Learns digits, and validates on all that were held out."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@torch.inference_mode()
def validate(model, criterion, loader):
    model.eval()
    total, right = 0.0, 0
    for inputs, targets in loader:
        outputs = model(inputs)
        total += criterion(outputs, targets)
        right += (outputs.argmax(1) == targets).sum()
    model.train()
    return total.item() / len(loader), right.item() / len(loader.dataset)


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32) / 16
    train, held_out = random_split(TensorDataset(images, torch.as_tensor(labels)), [1200, 597])
    loader, validation = DataLoader(train, batch_size=16, shuffle=True), DataLoader(held_out, batch_size=16)
    blocks = [
        nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.GELU(), nn.Dropout(0.1)) for _ in range(8)
    ]
    model = nn.Sequential(*blocks, nn.Linear(64, 10))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        for step, (inputs, targets) in enumerate(loader):
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
            if step % 2 == 0:
                held_out_loss, accuracy = validate(model, criterion, validation)
        print(f"epoch {epoch} loss {loss.item():.3f} validation {held_out_loss:.3f} accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
