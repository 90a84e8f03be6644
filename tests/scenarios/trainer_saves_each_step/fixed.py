"""Trains a small language model with the Trainer of Transformers, and can always resume."""

from pydoc_data.topics import topics

import torch
from torch.utils.data import TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

TEXT = torch.tensor([min(ord(character), 127) for character in " ".join(topics.values())])


def collate(samples):
    tokens = torch.stack([tokens for (tokens,) in samples])
    return {"input_ids": tokens, "labels": tokens}


def main():
    config = GPT2Config(vocab_size=128, n_positions=32, n_embd=48, n_layer=1, n_head=2)
    arguments = TrainingArguments(
        "out",
        per_device_train_batch_size=8,
        max_steps=70,
        logging_steps=35,
        save_strategy="steps",
        save_steps=10,
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    texts = TensorDataset(TEXT[: 32 * 800].view(-1, 32))
    Trainer(GPT2LMHeadModel(config), arguments, train_dataset=texts, data_collator=collate).train()


if __name__ == "__main__":
    main()
