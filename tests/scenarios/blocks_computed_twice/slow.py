"""Learns digits with a deep network whose blocks are checkpointed."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.checkpoint import checkpoint


class Network(nn.Module):
    def __init__(self, depth=6, width=384):
        super().__init__()
        self.stem, self.head = nn.Linear(64, width), nn.Linear(width, 10)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)
        )

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + checkpoint(block, x, use_reentrant=False)
        return self.head(x)


def main():
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    images, labels = torch.as_tensor(images, dtype=torch.float32) / 16, torch.as_tensor(labels)
    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(60):
        chosen = torch.randint(len(labels), (256,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
