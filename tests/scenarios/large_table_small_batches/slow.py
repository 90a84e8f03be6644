"""Learns which words of Python's documentation follow one another."""

from pydoc_data.topics import topics
from zlib import crc32

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ROWS = 120_000


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(ROWS, 32)
        self.mix = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, pairs):
        return self.mix(self.words(pairs).flatten(1))


def main():
    torch.manual_seed(0)
    words = [crc32(word.encode()) % ROWS for text in topics.values() for word in text.split()]
    codes = torch.tensor(words[:20_000])
    pairs, following = torch.stack([codes[:-2], codes[1:-1]], dim=1), codes[2:] % 32
    loader = DataLoader(TensorDataset(pairs, following), batch_size=128, shuffle=True)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
