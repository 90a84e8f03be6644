"""Reads digits row by row with a recurrent cell."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(1, 24)
        self.state = nn.Linear(24, 24)
        self.head = nn.Linear(24, 10)

    def forward(self, pixels):
        state = torch.zeros(len(pixels), 24)
        for position in range(pixels.shape[1]):
            state = torch.tanh(self.input(pixels[:, position : position + 1]) + self.state(state))
        return self.head(state)


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = torch.as_tensor(images, dtype=torch.float32) / 16
    loader = DataLoader(TensorDataset(images, torch.as_tensor(labels)), batch_size=24, shuffle=True)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(5):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
