"""Learns which word follows; batches are cut out of the corpus by hand."""

import numpy as np
import torch
from torch import nn

BLOCK, BATCH, WORDS = 32, 16, 100


def number_of(word):
    return sum(ord(letter) for letter in word) % WORDS


def get_batch(corpus, rng):
    starts = rng.integers(0, len(corpus) - BLOCK - 1, BATCH)
    tokens = corpus[torch.from_numpy(starts)[:, None] + torch.arange(BLOCK + 1)]
    return tokens[:, :-1], tokens[:, 1:]


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, (20_000, 60))
    corpus = torch.tensor([number_of("".join(map(chr, word))) for word in letters])
    model = nn.Sequential(nn.Embedding(WORDS, 16), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, WORDS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for step in range(600):
        inputs, targets = get_batch(corpus, rng)
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
