"""Learns digits with a compiled deep network that keeps an eye on its activations."""

import torch
from sklearn.datasets import load_digits
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_buffer("largest", torch.zeros(()))

    def forward(self, x):
        grown = torch.relu(self.linear(x))
        self.largest.copy_(grown.detach().abs().max())
        return grown


class Network(nn.Module):
    def __init__(self, depth=20, width=24):
        super().__init__()
        self.stem, self.head = nn.Linear(64, width), nn.Linear(width, 10)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def main():
    torch.manual_seed(0)
    torch._dynamo.config.recompile_limit = 64
    images, labels = load_digits(return_X_y=True)
    images, labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
    model = Network()
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(80):
        chosen = torch.randint(len(labels), (16,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(compiled(images[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f} largest {model.blocks[-1].largest.item():.2f}")


if __name__ == "__main__":
    main()
