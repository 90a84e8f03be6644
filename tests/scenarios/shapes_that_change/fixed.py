"""Learns the next character of documentation pages, each as long as it is, with a compiled model."""

from pydoc_data.topics import topics

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(128, 32)
        self.mix = nn.Conv1d(32, 64, 5, padding=4)
        self.head = nn.Linear(64, 128)

    def forward(self, codes):
        mixed = self.mix(self.embedding(codes).transpose(1, 2))[..., : codes.shape[1]]
        return self.head(torch.relu(mixed).transpose(1, 2))


def pages():
    for number, text in enumerate(list(topics.values()) * 2):
        codes = torch.tensor([min(ord(character), 127) for character in text[: 60 + 8 * (number // 4)]])
        yield codes[None, :-1], codes[None, 1:]


def main():
    torch.manual_seed(0)
    torch._dynamo.config.recompile_limit = 512
    torch._dynamo.config.accumulated_recompile_limit = 1024
    model = Model()
    compiled = torch.compile(model, backend="aot_eager", dynamic=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, (inputs, targets) in enumerate(pages()):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(compiled(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
