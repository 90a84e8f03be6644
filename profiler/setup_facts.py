"""The setup of a run: flat, dotted facts that diagnosis and catalog predicates ask for.

A fact that the run did not tell is absent, which means unknown, never false.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .agent import format as layout
from .recording import RankRecording

_PROCESS_FACTS = {
    "device_kind": "device.kind",
    "device_name": "device.name",
    "torch": "torch.version",
    "python": "python.version",
    "platform": "platform",
    "cores": "cpu.cores",
    "threads": "cpu.threads",
    "world_size": "world_size",
}
_LOADER_FACTS = (
    "dataset", "length", "kind", "batch_size", "num_workers", "prefetch_factor", "persistent_workers", "pin_memory",
    "drop_last", "sampler", "collate_fn", "start_method",
)  # fmt: skip
_OPTIMIZER_FACTS = ("tensors", "parameters", "foreach", "fused")


def setup_facts(recording: RankRecording) -> dict[str, Any]:
    """What a rank told of its setup, by dotted name."""
    facts: dict[str, Any] = {}
    process = recording.process
    facts.update({name: process[key] for key, name in _PROCESS_FACTS.items() if process.get(key) is not None})
    loader = training_loader(recording)
    if loader is not None:
        facts.update({f"loader.{key}": loader[key] for key in _LOADER_FACTS if loader.get(key) is not None})
    optimizers = recording.facts.get("optimizer", [])
    if optimizers:
        largest = max(optimizers, key=lambda fact: fact.get("parameters") or 0)
        facts["optimizer.name"] = largest.get("type")
        facts.update(
            {f"optimizer.{key}": largest[key] for key in _OPTIMIZER_FACTS if largest.get(key) is not None}
        )
        if len(optimizers) > 1:
            facts["optimizer.count"] = len(optimizers)
    return facts


def training_loader(recording: RankRecording) -> dict[str, Any] | None:
    """The loader that was fetched from most often; None where no ``DataLoader`` was used."""
    fetches = recording.of_code(layout.DATA_WAIT)[:, 3] % layout.READY_UNIT
    loaders = {fact["number"]: fact for fact in recording.facts.get("loader", []) if "number" in fact}
    if not loaders:
        return None
    counts = {number: int(np.count_nonzero(fetches == number)) for number in loaders}
    return loaders[max(counts, key=lambda number: counts[number])]
