"""Method and seed from the names of files and folders."""

from __future__ import annotations

import pytest

from trainrx.advisor.compare.labels import Label, label_of, told_label
from trainrx.profiler.errors import UsageError


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("cosine.csv", Label("cosine")),
        ("cosine-seed3.csv", Label("cosine", 3)),
        ("cosine_seed=3.jsonl", Label("cosine", 3)),
        ("seed3-cosine.csv.gz", Label("cosine", 3)),
        ("a/b/cosine/seed3/metrics.csv", Label("cosine", 3)),
        ("cosine/seed_3.csv", Label("cosine", 3)),
        ("cosine/lightning_logs/version_2/metrics.csv", Label("cosine", 2)),
        ("cosine/seed1/checkpoint-500/trainer_state.json", Label("cosine", 1)),
        ("cosine-seed1/metrics.csv", Label("cosine", 1)),
        ("cosine-epochs30-seed1.csv", Label("cosine", 1, 30)),
        ("metrics.csv", Label("metrics")),
        ("7.csv", Label("7")),
        ("resnet50.v2.csv", Label("resnet50.v2")),
        ("lr0.1-momentum.csv", Label("lr0.1-momentum")),
    ],
)
def test_what_a_path_tells(path: str, label: Label) -> None:
    assert label_of(path) == label


def test_what_a_user_tells() -> None:
    assert told_label("cosine") == Label("cosine")
    assert told_label("cosine:3") == Label("cosine", 3)
    assert told_label("lr:fast:3") == Label("lr:fast", 3)
    with pytest.raises(UsageError, match="names no method"):
        told_label(":3")
