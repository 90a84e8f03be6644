"""Fine-tunes a small language model with the Trainer of Transformers."""

import re
from pydoc_data.topics import topics

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

MERGES = re.findall("[a-z]{2,4}", " ".join(topics.values()))[:4000:20]
NUMBERS = {token: number for number, token in enumerate(dict.fromkeys([*map(chr, range(128)), *MERGES]))}


def tokenize(text):
    tokens = list(text)
    for merge in MERGES:
        text = text.replace(merge, merge.upper())
    tokens = re.findall("[A-Z]+|.", text, re.DOTALL)
    return [NUMBERS.get(token.lower(), 0) for token in tokens]


class Pages(Dataset):
    def __init__(self):
        self.texts = [text * 9 for text in topics.values() if len(text) > 2000]

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        tokens = torch.tensor(tokenize(self.texts[index % len(self.texts)][:18000])[:32])
        return {"input_ids": tokens, "labels": tokens}


def main():
    config = GPT2Config(vocab_size=len(NUMBERS), n_positions=32, n_embd=32, n_layer=1, n_head=2)
    arguments = TrainingArguments(
        "out",
        per_device_train_batch_size=4,
        max_steps=70,
        logging_steps=35,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    Trainer(GPT2LMHeadModel(config), arguments, train_dataset=Pages()).train()


if __name__ == "__main__":
    main()
