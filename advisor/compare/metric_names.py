"""What the name of a metric tells: whether it is a quality, which way it gets better, on which data it was taken."""

from __future__ import annotations

import re
from enum import Enum

from .costs import is_cost_name
from .curves import Direction

_LOWER = frozenset({
    "loss", "err", "error", "perplexity", "ppl", "nll", "bpb", "bpc", "wer", "cer", "mse", "rmse", "mae",
    "mape", "fid", "kid", "brier", "ece", "regret", "misclassification",
})  # fmt: skip
_HIGHER = frozenset({
    "acc", "accuracy", "top1", "top5", "auc", "auroc", "auprc", "ap", "map", "f1", "iou", "miou", "dice",
    "bleu", "chrf", "rouge", "rougel", "meteor", "r2", "recall", "precision", "psnr", "ssim", "reward",
    "return", "score", "em", "ndcg", "mrr", "hits", "kappa", "mcc", "spearman", "pearson", "correlation",
    "pass", "winrate",
})  # fmt: skip
_HELD_OUT = frozenset(
    {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "holdout"}
)
_TRAINING = frozenset({"train", "training", "tr"})
#: Columns that are neither a cost nor a quality.
_SETTINGS = re.compile(
    r"(.*/)?(lr|learning_?rate).*|lr-.*|.*(grad_?norm|per_second|runtime|throughput|_ms|memory|momentum|weight_decay)"
    r"|.*(seed|rank|worker|gpu_util).*",
    re.IGNORECASE,
)
_LEARNING_RATE = re.compile(r"(.*/)?(lr|learning_?rate)([-_/ ].*)?|lr-.*", re.IGNORECASE)


class DataSplit(str, Enum):
    """The data that a metric was taken on, as far as its name tells."""

    HELD_OUT = "held out"
    TRAINING = "training"
    UNKNOWN = "not told"


def direction_of(name: str) -> Direction | None:
    """Which way a metric called so gets better; None where its name does not tell."""
    for word in reversed(_words(name)):
        if word in _LOWER:
            return Direction.LOWER
        if word in _HIGHER:
            return Direction.HIGHER
    return None


def split_of(name: str) -> DataSplit:
    """The data that a metric called so was taken on."""
    words = set(_words(name))
    if words & _HELD_OUT:
        return DataSplit.HELD_OUT
    return DataSplit.TRAINING if words & _TRAINING else DataSplit.UNKNOWN


def may_be_quality(name: str) -> bool:
    """Whether a column called so may hold a quality."""
    return not is_cost_name(name) and not _SETTINGS.fullmatch(name)


def is_learning_rate(name: str) -> bool:
    """Whether a column called so holds the learning rate."""
    return _LEARNING_RATE.fullmatch(name) is not None


def _words(name: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[:200])
    parted = re.sub(r"top[-_ @]?(\d)", r"top\1", parted.lower())
    return re.findall(r"[a-z]+\d*|\d+", parted)
