"""Trains a language model with the Trainer of Transformers."""

from pydoc_data.topics import topics

import torch
from torch.utils.data import TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

TEXT = torch.tensor([min(ord(character), 127) for character in " ".join(topics.values())])


def collate(samples):
    tokens = torch.stack([tokens for (tokens,) in samples])
    return {"input_ids": tokens, "labels": tokens}


def main():
    config = GPT2Config(vocab_size=128, n_positions=64, n_embd=128, n_layer=1, n_head=4)
    arguments = TrainingArguments(
        "out",
        per_device_train_batch_size=12,
        max_steps=70,
        logging_steps=35,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    texts = TensorDataset(TEXT[: 64 * 900].view(-1, 64))
    Trainer(GPT2LMHeadModel(config), arguments, train_dataset=texts, data_collator=collate).train()


if __name__ == "__main__":
    main()
