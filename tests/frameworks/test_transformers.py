"""The ``Trainer`` of Transformers, unedited: accumulation, evaluation, checkpoints, bf16 on the CPU."""

import sys

import pytest

from trainrx.profiler.vocabulary import Ending

from .conftest import seconds_of

pytest.importorskip("transformers", reason="needs the package transformers")
pytest.importorskip("accelerate", reason="needs the package accelerate")

SCRIPT = """
    import torch
    from torch.utils.data import TensorDataset
    from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainingArguments

    def collate(samples):
        tokens = torch.stack([tokens for (tokens,) in samples])
        return {"input_ids": tokens, "labels": tokens}

    def main():
        torch.manual_seed(0)
        config = GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=2, n_head=2)
        arguments = TrainingArguments(
            "out", max_steps=12, per_device_train_batch_size=2, gradient_accumulation_steps=2, logging_steps=1,
            eval_strategy="steps", eval_steps=4, per_device_eval_batch_size=8, save_strategy="steps", save_steps=5,
            report_to=[], disable_tqdm=True, use_cpu=True, bf16=True, gradient_checkpointing=True,
        )
        data = TensorDataset(torch.randint(32, (64, 16)))
        trainer = Trainer(
            GPT2LMHeadModel(config), arguments, train_dataset=data, eval_dataset=data, data_collator=collate
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        for entry in trainer.state.log_history:
            print([(key, float(entry[key]).hex()) for key in ("loss", "grad_norm", "eval_loss") if key in entry])
        print(trainer.state.global_step)

    if __name__ == "__main__":
        main()
"""


def test_trainer(write_script, run_both) -> None:
    # GIVEN 12 updates of two micro-batches each, with three evaluations and checkpoints in between
    script = write_script(SCRIPT)
    # WHEN recorded THEN losses, norms and evaluations are the same to the last bit
    plain, recorded, report = run_both([sys.executable, str(script)])
    assert plain == recorded and "12" in plain and len(plain) > 12
    # AND a step is an update, whatever lies in between, and its stages are told apart
    assert report.run.steps_recorded == 12
    stages = seconds_of(report)
    assert {"data_wait", "forward", "backward", "optimizer", "evaluation", "checkpoint"} <= set(stages)
    # AND recomputing activations in backward is no second forward: that takes longer than the forward itself
    assert stages["backward"] > stages["forward"]
    assert report.setup["precision"] == "bf16" and report.setup["model.type"] == "GPT2LMHeadModel"
    assert [rank.ended and rank.ended.how for rank in report.ranks] == [Ending.EXIT]
