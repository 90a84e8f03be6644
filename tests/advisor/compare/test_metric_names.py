"""What names of metrics tell."""

from __future__ import annotations

import pytest

from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.metric_names import (
    DataSplit,
    direction_of,
    is_learning_rate,
    may_be_quality,
    split_of,
)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("val_loss", Direction.LOWER),
        ("eval/perplexity", Direction.LOWER),
        ("top1_error", Direction.LOWER),
        ("test_wer", Direction.LOWER),
        ("valAccuracy", Direction.HIGHER),
        ("metrics/eval/top-1", Direction.HIGHER),
        ("val_acc_top5", Direction.HIGHER),
        ("eval_f1", Direction.HIGHER),
        ("Value", None),
        ("quality", None),
    ],
)
def test_direction(name: str, direction: Direction | None) -> None:
    assert direction_of(name) is direction


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("val_loss", DataSplit.HELD_OUT),
        ("metrics/eval/top-1", DataSplit.HELD_OUT),
        ("train_loss", DataSplit.TRAINING),
        ("loss", DataSplit.UNKNOWN),
    ],
)
def test_split(name: str, split: DataSplit) -> None:
    assert split_of(name) is split


def test_costs_and_settings_are_no_qualities() -> None:
    assert not any(
        may_be_quality(name)
        for name in (
            "step",
            "epoch",
            "lr",
            "learning_rate",
            "grad_norm",
            "eval_runtime",
            "samples_per_second",
        )
    )
    assert may_be_quality("val_loss") and may_be_quality("Value")
    assert (
        is_learning_rate("lr-AdamW")
        and is_learning_rate("train/learning_rate")
        and not is_learning_rate("lrs")
    )
