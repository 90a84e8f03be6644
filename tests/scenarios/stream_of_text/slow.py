"""Learns to predict the next character of Python's documentation, read as a stream."""

import re
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

LENGTH = 64


class Stream(IterableDataset):
    def __init__(self, texts):
        self.texts = texts

    def clean(self, text):
        text = re.sub(r"\s+", " ", text)
        return "".join(character if ord(character) < 128 else "?" for character in text.lower())

    def __iter__(self):
        while True:
            for text in self.texts:
                cleaned = self.clean(text)
                codes = torch.tensor([ord(character) for character in cleaned])
                for start in range(0, len(codes) - LENGTH - 1, 16 * LENGTH):
                    yield codes[start : start + LENGTH], codes[start + 1 : start + LENGTH + 1]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(128, 8)
        self.mix = nn.Conv1d(8, 16, 5, padding=4)
        self.head = nn.Linear(16, 128)

    def forward(self, codes):
        mixed = self.mix(self.embedding(codes).transpose(1, 2))[..., :LENGTH]
        return self.head(torch.relu(mixed).transpose(1, 2))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Stream(list(topics.values())), batch_size=8)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")
        if step == 90:
            break


if __name__ == "__main__":
    main()
