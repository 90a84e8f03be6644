"""Learns characters with attention, four micro-batches to a step."""

from pydoc_data.topics import topics

import torch
from torch import nn

TEXT = torch.tensor([min(ord(character), 127) for character in " ".join(topics.values())])
MICRO_BATCHES = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(128, 96)
        self.layer = nn.TransformerEncoderLayer(96, 4, 256, dropout=0.0, batch_first=True)
        self.head = nn.Linear(96, 128)

    def forward(self, codes):
        mask = nn.Transformer.generate_square_subsequent_mask(codes.shape[1])
        return self.head(self.layer(self.embedding(codes), src_mask=mask, is_causal=True))


def main():
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(60):
        optimizer.zero_grad()
        for _ in range(MICRO_BATCHES):
            starts = torch.randint(len(TEXT) - 49, (8,))
            batch = TEXT[starts[:, None] + torch.arange(49)]
            outputs = model(batch[:, :-1])
            loss = nn.functional.cross_entropy(outputs.flatten(0, 1), batch[:, 1:].flatten()) / MICRO_BATCHES
            loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item() * MICRO_BATCHES:.3f}")


if __name__ == "__main__":
    main()
