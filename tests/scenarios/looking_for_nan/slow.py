"""Learns sines with a small recurrent network that is written out."""

import math

import torch
from torch import nn

torch.autograd.set_detect_anomaly(True)


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.outer = nn.Linear(1, width), nn.Linear(width, width)

    def forward(self, x, state):
        return torch.tanh(self.inner(x) + self.outer(state))


class Network(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.width, self.cell, self.head = width, Cell(width), nn.Linear(width, 1)

    def forward(self, sequence):
        state = sequence.new_zeros(len(sequence), self.width)
        for x in sequence.unbind(1):
            state = self.cell(x, state)
        return self.head(state)


def main():
    torch.manual_seed(0)
    model = Network()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(80):
        phase = torch.rand(8, 1) * 2 * math.pi
        wave = torch.sin(phase + torch.arange(41) * 0.2)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(wave[:, :40, None]), wave[:, 40:])
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
