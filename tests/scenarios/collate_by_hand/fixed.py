"""Classifies documentation pages of Python by their words."""

import re
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.utils.data import DataLoader

WORDS = {
    word: number
    for number, word in enumerate(sorted(set(re.findall("[a-z]+", " ".join(topics.values())))), 1)
}


def pages():
    for number, text in enumerate(sorted(topics.values())):
        words = [WORDS[word] for word in re.findall("[a-z]+", text)]
        for start in range(0, len(words) - 40, 40):
            yield words[start : start + 200], number % 4


def collate(samples):
    longest = max(len(words) for words, _ in samples)
    rows = torch.zeros(len(samples), longest, dtype=torch.long)
    for row, (words, _) in enumerate(samples):
        rows[row, : len(words)] = torch.tensor(words)
    return rows, torch.tensor([label for _, label in samples])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(len(WORDS) + 1, 64, padding_idx=0, sparse=True)
        self.head = nn.Linear(64, 4)

    def forward(self, rows):
        return self.head(self.embedding(rows))


def main():
    torch.manual_seed(0)
    loader = DataLoader(list(pages()), batch_size=32, shuffle=True, collate_fn=collate)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (rows, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")
        if step == 80:
            break


if __name__ == "__main__":
    main()
