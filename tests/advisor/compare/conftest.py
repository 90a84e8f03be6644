"""Trainings made of formulas, as metric files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source
from trainrx.profiler.ingest.metric_table import parse_metric_table

MakeTraining = Callable[..., Source]


@pytest.fixture
def training() -> MakeTraining:
    """Makes a training that learns at ``pace``; columns and their ends can be changed."""

    def make(
        method: str,
        seed: int | None = 1,
        *,
        pace: float = 1.0,
        steps: int = 300,
        every: int = 10,
        final_lr: float | None = 0.0,
        seconds_per_step: float | None = 0.1,
        metric: str = "val_acc",
        breaks: bool = False,
        budget: float | None = None,
        hardware: dict[str, object] | None = None,
    ) -> Source:
        noise = np.random.default_rng((seed or 0) + len(method))
        own_pace = pace * noise.lognormal(0, 0.02)
        header = [
            "step",
            *(["seconds"] if seconds_per_step else []),
            *(["lr"] if final_lr is not None else []),
            metric,
        ]
        rows = [",".join(header)]
        for step in range(every, steps + 1, every):
            left = 1 - step / steps
            quality = "nan" if breaks and step > steps / 2 else f"{1 - np.exp(-step * own_pace / 100):.6f}"
            cells = [
                str(step),
                *([f"{step * seconds_per_step:.4f}"] if seconds_per_step else []),
                *([f"{final_lr + (0.1 - final_lr) * left:.6f}"] if final_lr is not None else []),
                quality,
            ]
            rows.append(",".join(cells))
        table = parse_metric_table("\n".join(rows).encode(), source=f"{method}-{seed}.csv")
        return Source(Label(method, seed, budget), table, hardware or {})

    return make
