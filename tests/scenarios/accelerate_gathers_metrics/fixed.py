"""Learns digits with Accelerate and reports on every class."""

import torch
from accelerate import Accelerator
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True)
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels))
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(digits, batch_size=64, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(3):
        for step, (inputs, targets) in enumerate(loader):
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = nn.functional.cross_entropy(outputs, targets)
            accelerator.backward(loss)
            optimizer.step()
            if step % 10 == 0:
                guesses, truths = accelerator.gather_for_metrics((outputs.argmax(1), targets))
                report = classification_report(truths, guesses, zero_division=0.0)
        accelerator.print(f"epoch {epoch} loss {loss.item():.3f}")
    accelerator.print(report)


if __name__ == "__main__":
    main()
