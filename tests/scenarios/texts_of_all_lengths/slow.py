"""Learns characters on two ranks, from documentation pages as long as they come."""

from pydoc_data.topics import topics

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(128, 24)
        self.mix = nn.Sequential(nn.Conv1d(24, 48, 5, padding=2), nn.ReLU(), nn.Conv1d(48, 48, 5, padding=2))
        self.head = nn.Linear(48, 128)

    def forward(self, codes):
        return self.head(self.mix(self.embedding(codes).transpose(1, 2)).transpose(1, 2))


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    order = torch.randperm(len(topics), generator=torch.Generator().manual_seed(1)).tolist()
    pages = [list(topics.values())[number][:6000] for number in order][rank::ranks] * 2
    torch.manual_seed(0)
    model = DistributedDataParallel(Model())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, page in enumerate(pages[:70]):
        codes = torch.tensor([[min(ord(character), 127) for character in page]])
        optimizer.zero_grad()
        outputs = model(codes[:, :-1])
        loss = nn.functional.cross_entropy(outputs.flatten(0, 1), codes[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
