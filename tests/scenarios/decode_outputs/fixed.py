"""Learns the next character and spells out what the model would write."""

from pydoc_data.topics import topics

import torch
from torch import nn

TEXT = torch.tensor([min(ord(character), 127) for character in " ".join(topics.values())])


def spell(codes):
    words, word = [], ""
    for code in codes:
        character = chr(code)
        if character.isalnum():
            word += character
        elif word:
            words.append(word)
            word = ""
    return words


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(128, 32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 128))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    vocabulary = set()
    for step in range(80):
        starts = torch.randint(len(TEXT) - 65, (64,))
        batch = torch.stack([TEXT[start : start + 65] for start in starts.tolist()])
        optimizer.zero_grad()
        outputs = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(outputs.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            for _ in range(6):
                vocabulary.update(spell(outputs.argmax(-1).flatten().tolist()))
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f} words {len(vocabulary)}")


if __name__ == "__main__":
    main()
