"""Classifies documentation pages that lie in one small file per paragraph."""

import json
import tempfile
from pathlib import Path
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def write_pages(folder):
    for number, text in enumerate(sorted(topics.values())):
        for part, paragraph in enumerate(text.split("\n\n")[:40]):
            (folder / f"{number}-{part}.json").write_text(
                json.dumps({"text": paragraph, "label": number % 4})
            )
    return folder


class Pages(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.pages = sorted({int(path.name.partition("-")[0]) for path in folder.iterdir()})

    def __len__(self):
        return 40 * len(self.pages)

    def __getitem__(self, index):
        page = self.pages[index % len(self.pages)]
        counts, label = torch.zeros(256), 0
        for path in sorted(self.folder.glob(f"{page}-*.json")):
            paragraph = json.loads(path.read_text())
            label = paragraph["label"]
            counts[len(paragraph["text"]) % 256] += 1
        return counts / counts.sum(), label


def main():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        loader = DataLoader(Pages(write_pages(Path(folder))), batch_size=4, shuffle=True)
        model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 4))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for step, (counts, labels) in enumerate(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(counts), labels)
            loss.backward()
            optimizer.step()
            if step % 20 == 0:
                print(f"step {step} loss {loss.item():.3f}")
            if step == 60:
                break


if __name__ == "__main__":
    main()
